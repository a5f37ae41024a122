package notebook_test

import (
	"testing"

	"dsstar/notebook"
)

func TestStripANSI(t *testing.T) {
	for text, want := range map[string]string{"": "",
		"plain [31m text": "plain [31m text", "\x1b[0;31mred\x1b[0m": "red",
		"\x1b[38;5;28;01mif\x1b[39;00m": "if", "\x1b[38:2:1:2:3mred\x1b[m": "red",
		"a\x1b[2K\x1b[1Ab\x1b[?25l": "ab", "[é]\x1b[1m[é]": "[é][é]",
		"cut off \x1b[": "cut off \x1b["} {
		if got := notebook.StripANSI(text); got != want {
			t.Errorf("StripANSI(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestOutputPlainText(t *testing.T) {
	for _, test := range []struct {
		name   string
		output notebook.Output
		want   string
	}{{"stream", streamed("stderr", "\x1b[31ma\x1b[0m\n"), "a\n"},
		{"display", shown("a\nb"), "a\nb"}, {"result with colours", result("\x1b[1m42"), "42"},
		{"picture alone", data("image/png", "iVBORw0KGgo="), ""},
		{"text/plain that is no text", data("text/plain", []any{"a"}), ""},
		{"error", notebook.Output{Type: notebook.ErrorOutput, EName: "E", EValue: "v", Traceback: []string{"\x1b[31m---", "E: v"}}, "---\nE: v"},
		{"error without traceback", notebook.Output{Type: notebook.ErrorOutput, EName: "E", EValue: "v"}, "E: v"}} {
		if got := test.output.PlainText(); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestExecution(t *testing.T) {
	failure := notebook.Output{Type: notebook.ErrorOutput, EName: "E", EValue: "v"}
	later := notebook.Output{Type: notebook.ErrorOutput, EName: "L", EValue: "w"}
	for _, test := range []struct {
		name              string
		execution         notebook.Execution
		plain, out, error string
	}{
		{name: "nothing"},
		{"streams by turns", notebook.Execution{Outputs: []notebook.Output{streamed("stdout", "a"), streamed("stderr", "b\n"), streamed("stdout", "c")}},
			"a\nb\nc\n", "ac", ""},
		{"outputs without text", notebook.Execution{Outputs: []notebook.Output{data("image/png", "x"), streamed("stdout", ""), shown("y")}},
			"y\n", "", ""},
		{"raised", notebook.Execution{Status: notebook.Raised, Outputs: []notebook.Output{streamed("stdout", "a\n"), failure}},
			"a\nE: v\n", "a\n", "E"},
		{"the last error counts", notebook.Execution{Status: notebook.Raised, Outputs: []notebook.Output{failure, later, streamed("stderr", "x")}},
			"E: v\nL: w\nx\n", "", "L"},
		{"timed out", notebook.Execution{Status: notebook.TimedOut, Reason: "it ran for 60 s", Outputs: []notebook.Output{streamed("stdout", "a")}},
			"a\nit ran for 60 s\n", "a", ""},
		{"died", notebook.Execution{Status: notebook.Died, Reason: "the kernel died"}, "the kernel died\n", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.execution.PlainText(); got != test.plain {
				t.Errorf("PlainText is %q, want %q", got, test.plain)
			}
			if got := test.execution.Stdout(); got != test.out {
				t.Errorf("Stdout is %q, want %q", got, test.out)
			}
			if got, ok := test.execution.Error(); got.EName != test.error || ok != (test.error != "") {
				t.Errorf("Error is %q, %v, want %q", got.EName, ok, test.error)
			}
		})
	}
}
