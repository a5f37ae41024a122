package lineage

import (
	"slices"
	"strings"
)

// Elsewhere returns a script that runs as if on another computer, on which folders list their files
// the other way round and which has one more processor.
func Elsewhere(script string) string { return python("elsewhere.py") + script }

// machine is what [Elsewhere] changes, in the words of doubts.
var machine = []string{"the order in which a folder lists its files", "the number of processors"}

// WithoutMachine returns doubts without those about what [Elsewhere] changes.
func WithoutMachine(doubts []string) []string {
	return slices.DeleteFunc(slices.Clone(doubts), func(doubt string) bool {
		return slices.ContainsFunc(machine, func(what string) bool { return strings.HasSuffix(doubt, what) })
	})
}

// Shuffled returns a script before which pandas reads the rows of tables in another order; "" if it
// does not read any.
func Shuffled(script string) string { return withRows(script, "t.sample(frac=1, random_state=1)") }

// Halved is Shuffled for tables without every second row.
func Halved(script string) string { return withRows(script, "t.iloc[::2]") }

func withRows(script, change string) string {
	if !strings.Contains(script, "pandas") || !strings.Contains(script, ".read_") {
		return ""
	}
	return strings.Replace(python("rows.py"), "(CHANGE)", change, 1) + script
}
