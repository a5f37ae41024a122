package record

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"dsstar/notebook"
)

// The notebooks in testdata are of real runs. Only long outputs were cut.

const heading = "Load the numbers_2023 & show them, with a heading that is so long that it " +
	"has to be cut somewhere in the middle of it, as <b>this</b> one is."

const finished = `What is the ` + "`total`" + ` of n_2023, in $?
1 ` + heading + ` ok; insufficient: the total; add
2 Count the *lines* of $n$. ok; insufficient: a total, not a count; back to 2
3 Add them up: ` + "`sum`" + `. error ok; sufficient: the total is computed.
plan [1 3]; 42: proved
`

func TestRead(t *testing.T) {
	unfinished, _, _ := strings.Cut(finished, "; sufficient")
	head, _, _ := strings.Cut(finished, "\n")
	byHand := strings.Replace(strings.Replace(finished, "Load", "Read", 1), "ok; ", "ok; by hand; ", 1)
	edited, _, _ := strings.Cut(strings.Replace(finished, "error ok;", "error ok; by hand;", 1),
		"the total is computed")
	for name, want := range map[string]string{
		"finished": finished,
		"asked": finished + "And the largest?\n4 Take the largest. ok; sufficient: there it is.\n" +
			"plan [4]; 39 42: proved\n",
		"killed": unfinished + "\nplan [1 3]\n",
		"review": byHand,
		"paper": head + "\n1 Count the numbers. ok; insufficient: ; add\n" +
			"2 Add them up. ok; sufficient: \nplan [1 2]; 42: proved\n",
		"carried-out": edited + "the total is computed.\n" +
			"4 [the cell of step 2 was changed the words of step 1 were changed " +
			"a note was left: Mind the header.]\n" +
			"5 " + strings.Replace(heading, "Load", "Read", 1) + " ok\n" +
			"6 [the steps after it are run again]; sufficient: yes.\nplan [5 3]; 39: proved\n",
	} {
		t.Run(name, func(t *testing.T) {
			tr := readAgain(t, golden(t, name))
			if diff := cmp.Diff(want, summary(tr)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if tr.Started.IsZero() || tr.Usage.Calls == 0 ||
				tr.Rounds[0].Attempts[0].Execution.Seconds == 0 ||
				tr.Rounds[0].Attempts[len(tr.Rounds[0].Attempts)-1].Execution.PlainText() == "" {
				t.Error("times, usage or outputs are missing")
			}
		})
	}
}

// readAgain reads the notebook of a run. What is drawn of it is read back the same.
func readAgain(t *testing.T, nb *notebook.Notebook) *Trajectory {
	t.Helper()
	tr, err := Read(nb)
	if err != nil {
		t.Fatal(err)
	}
	data, err := Draw(tr).Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Read(parse(t, data))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tr, again, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("drawn and read again (-want +got)\n%s", diff)
	}
	return tr
}

func golden(t *testing.T, name string) *notebook.Notebook {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name + ".ipynb")
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, data)
}

func parse(t *testing.T, data []byte) *notebook.Notebook {
	t.Helper()
	nb, err := notebook.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return nb
}

// summary says what a run did, question by question.
func summary(t *Trajectory) string {
	var b strings.Builder
	begin := 0
	for k := range len(t.Earlier) + 1 {
		p := t.Part(k)
		fmt.Fprintln(&b, p.Task.Question)
		for i, r := range p.Rounds[begin:] {
			fmt.Fprintf(&b, "%d %s\n", begin+i+1, roundSummary(r))
		}
		begin = len(p.Rounds)
		fmt.Fprintf(&b, "plan %v", Numbers(p.Plan()))
		if p.Proved() {
			fmt.Fprintf(&b, "; %s: proved", p.Answer())
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}

func roundSummary(r Round) string {
	s := r.Step
	if r.Edit != nil {
		s = fmt.Sprint(r.Edit.What)
	}
	for _, a := range r.Attempts {
		s += " " + string(a.Execution.Status)
	}
	if r.ByHand {
		s += "; by hand"
	}
	if r.Verdict != nil {
		s += "; " + r.Verdict.Word() + ": " + r.Verdict.Reason
	}
	if r.Route == nil {
		return s
	}
	if r.Route.Back > 0 {
		return s + fmt.Sprintf("; back to %d", r.Route.Back)
	}
	return s + "; add"
}
