package agent_test

import (
	"strings"
	"testing"

	"dsstar/agent/page"
)

// more is a model for runs that are resumed: it says yes to all.
var more = script{
	"verdict": yes, "second": "agreed()", "step": "More.",
	"cell": "y = x\ny += \"b\"\nprint(y)", "last": "print(y)",
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// What a person wrote into dsstar's own cells is not lost.
func TestHandsOff(t *testing.T) {
	p := play(t, three).noError(t)
	tr := must(edited(t, p.Trajectory, all(source("verdict-2", "", "My own remark.\n\n"),
		source("step-3", `"3"`, `"4"`))))
	got := goOn(t, more, tr).noError(t)
	data := string(must(page.Draw(got.Trajectory).Encode()))
	if strings.Count(data, "My own remark.") != 1 || got.Answer() != "124" {
		t.Errorf("answer %q\n%s", got.Answer(), data)
	}
}
