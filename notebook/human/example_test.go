package human_test

import (
	"fmt"

	"dsstar/notebook/human"
)

func ExampleBytes() {
	fmt.Println(human.Bytes(498_100_000))
	// Output: 498.1 MB
}

func ExampleShell() {
	fmt.Println("dsstar resume " + human.Shell("dsstar-runs/it's a run"))
	// Output: dsstar resume 'dsstar-runs/it'\''s a run'
}
