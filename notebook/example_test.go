package notebook_test

import (
	"encoding/json"
	"fmt"
	"log"

	"dsstar/notebook"
)

func ExampleFold() {
	var fold notebook.Fold
	for _, m := range []struct{ kind, content string }{
		{"stream", `{"name": "stderr", "text": "\r 50%"}`},
		{"stream", `{"name": "stderr", "text": "\r100%\n"}`},
		{"status", `{"execution_state": "busy"}`},
		{"execute_result", `{"execution_count": 1, "data": {"text/plain": "42"}, "metadata": {}}`},
	} {
		if err := fold.Add(m.kind, json.RawMessage(m.content)); err != nil {
			log.Fatal(err)
		}
	}
	for _, o := range fold.Outputs() {
		fmt.Printf("%s: %q\n", o.Type, o.PlainText())
	}
	// Output:
	// stream: "100%\n"
	// execute_result: "42"
}
