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
		same(t, text, want, notebook.StripANSI(text))
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
		same(t, test.name, test.want, test.output.PlainText())
	}
}

func TestExecution(t *testing.T) {
	failed := func(name string) notebook.Output { return notebook.Output{Type: notebook.ErrorOutput, EName: name} }
	e := notebook.Execution{Status: notebook.TimedOut, Reason: "it ran for 60 s", Outputs: []notebook.Output{
		streamed("stdout", "a"), failed("E"), failed("L"), streamed("stderr", "b\n"), streamed("stdout", ""),
		data("image/png", "x"), streamed("stdout", "c"), shown("y")}}
	same(t, "text", "a\nE: \nL: \nb\nc\ny\nit ran for 60 s\n", e.PlainText())
	same(t, "stdout", "ac", e.Stdout())
	if got, ok := e.Error(); got.EName != "L" || !ok {
		t.Errorf("Error is %q, %v", got.EName, ok)
	}
	if _, ok := (notebook.Execution{}).Error(); ok || (notebook.Execution{}).PlainText() != "" {
		t.Error("of nothing there is something")
	}
}

func TestSteady(t *testing.T) {
	const address, steady = "<f at 0x7f9d3c0b5e10>", "<f at 0x…>"
	of := func(text string) []notebook.Output {
		return []notebook.Output{streamed("stdout", text), {Type: notebook.ExecuteResult, Data: notebook.MIMEBundle{
			"text/plain": "[" + text + ", <bound method A.b of " + text + ">]", "image/png": "at 0x7f9d3c0b5e10"}},
			{Type: notebook.ErrorOutput, EName: "E", EValue: "no " + text, Traceback: []string{"a", text}}}
	}
	given := of(address)
	same(t, "rewritten", of(steady), notebook.Rewritten(given, notebook.Steady))
	same(t, "given", of(address), given)
	const text = "text at 0x08048000, at 0xff <b>at 0x08048000</b> <at> 0x7f9d3c0b5e10"
	same(t, "steady", text, notebook.Steady(text))
}
