package tables_test

import (
	"fmt"

	"dsstar/agent/bench/tables"
)

func ExampleWilson() {
	low, high := tables.Wilson(0.75, 8) // six of eight tasks
	fmt.Printf("%.0f %% to %.0f %%\n", 100*low, 100*high)
	// Output: 41 % to 93 %
}
