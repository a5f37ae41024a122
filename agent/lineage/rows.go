package lineage

import "strings"

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
