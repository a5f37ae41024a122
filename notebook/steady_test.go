package notebook_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsstar/notebook"
)

func TestSteady(t *testing.T) {
	outputs := []notebook.Output{
		{Type: notebook.Stream, Name: "stdout", Text: "<__main__.A object at 0x7f9d3c0b5e10>\n"},
		{Type: notebook.ExecuteResult, Data: notebook.MIMEBundle{
			"text/plain": "[<matplotlib.lines.Line2D at 0x7f9d3c0b5e10>, <bound method A.b of <A at 0x55d1c0ffee>>]", "image/png": "at 0x7f9d3c0b5e10",
		}},
		{Type: notebook.ErrorOutput, EName: "E", EValue: "no <f at 0x7f9d3c0b5e10>", Traceback: []string{"a", "<f at 0x7f9d3c0b5e10>"}},
		{Type: notebook.Stream, Name: "stdout", Text: "text at 0x08048000, at 0xff <b>at 0x08048000</b> <at> 0x7f9d3c0b5e10"},
	}
	want := []notebook.Output{
		{Type: notebook.Stream, Name: "stdout", Text: "<__main__.A object at 0x…>\n"},
		{Type: notebook.ExecuteResult, Data: notebook.MIMEBundle{
			"text/plain": "[<matplotlib.lines.Line2D at 0x…>, <bound method A.b of <A at 0x…>>]", "image/png": "at 0x7f9d3c0b5e10",
		}},
		{Type: notebook.ErrorOutput, EName: "E", EValue: "no <f at 0x…>", Traceback: []string{"a", "<f at 0x…>"}},
		{Type: notebook.Stream, Name: "stdout", Text: "text at 0x08048000, at 0xff <b>at 0x08048000</b> <at> 0x7f9d3c0b5e10"},
	}
	before := outputs[1].Data["text/plain"]
	if diff := cmp.Diff(want, notebook.Steady(outputs)); diff != "" {
		t.Error(diff)
	}
	if outputs[1].Data["text/plain"] != before {
		t.Error("the given outputs were changed")
	}
}
