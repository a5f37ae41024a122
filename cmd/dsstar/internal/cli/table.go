package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Table writes rows with their cells below each other.
func Table(b *strings.Builder, rows [][]string) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // a builder takes everything
}
