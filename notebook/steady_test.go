package notebook_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsstar/notebook"
)

func TestSteady(t *testing.T) {
	const address, steady = "<f at 0x7f9d3c0b5e10>", "<f at 0x…>"
	of := func(text string) []notebook.Output {
		return []notebook.Output{streamed("stdout", text), {Type: notebook.ExecuteResult, Data: notebook.MIMEBundle{
			"text/plain": "[" + text + ", <bound method A.b of " + text + ">]", "image/png": "at 0x7f9d3c0b5e10"}},
			{Type: notebook.ErrorOutput, EName: "E", EValue: "no " + text, Traceback: []string{"a", text}}}
	}
	given := of(address)
	if diff := cmp.Diff(of(steady), notebook.Rewritten(given, notebook.Steady)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(of(address), given); diff != "" {
		t.Errorf("the given outputs were changed: %s", diff)
	}
	const text = "text at 0x08048000, at 0xff <b>at 0x08048000</b> <at> 0x7f9d3c0b5e10"
	if got := notebook.Steady(text); got != text {
		t.Error(got)
	}
}
