package prompts_test

import (
	"fmt"

	"dsstar/prompts"
)

func ExampleText() {
	fmt.Println(prompts.Text(prompts.Reask{
		Problem: "it has no code block", Rule: "Reply with one code block.",
	}))
	// Output:
	// Your reply could not be used: it has no code block. Reply with one code block. Keep it short.
}
