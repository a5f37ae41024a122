package compare_test

import (
	"fmt"

	"dsstar/notebook"
	"dsstar/notebook/compare"
)

func ExampleOutputs() {
	printed := func(text string) []notebook.Output {
		return []notebook.Output{{Type: notebook.Stream, Name: "stdout", Text: text}}
	}
	recorded := printed("mean 0.30000000000000004\nrows 12\n")
	now := printed("mean 0.3\nrows 13\n")
	for _, d := range compare.Outputs(recorded, now, 1e-9) {
		fmt.Printf("%s:\n%s", d.What, d.Diff)
	}
	// Output:
	// stdout:
	//  mean 0.3
	// -rows 12
	// +rows 13
	// ?     ^^
}
