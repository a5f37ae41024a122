package export_test

import (
	"fmt"
	"strings"

	"dsstar/notebook"
	"dsstar/notebook/export"
)

func ExampleMarkdown() {
	nb := &notebook.Notebook{Cells: []notebook.Cell{
		{Type: notebook.Markdown, Source: "# Sum"},
		{Type: notebook.Code, Source: "print(6 * 7)", Outputs: []notebook.Output{
			{Type: notebook.Stream, Name: "stdout", Text: "42\n"},
		}},
	}}
	fmt.Print(string(export.Markdown(nb)))
	// Output:
	// <!-- made by dsstar export -->
	//
	// # Sum
	//
	// ```python
	// print(6 * 7)
	// ```
	//
	// ```
	// 42
	// ```
}

// No content of a notebook can run in its page.
func ExampleHTML() {
	nb := &notebook.Notebook{Cells: []notebook.Cell{
		{Type: notebook.Markdown, Source: "hello <script>alert('hello')</script>"},
	}}
	page := string(export.HTML(nb, export.Options{Title: "Greeting"}))
	fmt.Println(strings.Contains(page, "hello"), strings.Contains(page, "alert"))
	// Output: true false
}
