package prompts_test

import (
	"fmt"
	"log"

	"dsstar/prompts"
)

func ExampleSet_Text() {
	set, err := prompts.Load()
	if err != nil {
		log.Fatal(err)
	}
	text, err := set.Text(prompts.Reask{
		Problem: "it has no code block", Rule: "Reply with one code block.",
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(text)
	// Output:
	// Your reply could not be used: it has no code block. Reply with one code block. Keep it short.
}
