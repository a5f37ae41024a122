package learn

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"dsstar/cmd/dsstar/internal/term"
	"dsstar/notebook/compare"
	"dsstar/notebook/disk"
)

// A Lesson is a question to learn from, or to try the memory on.
type Lesson struct {
	Question string
	Form     string // of the answer; "" if none is given
	Answer   string // "" if none is given
}

// An Outcome is how a question was answered.
type Outcome struct {
	Answer        string
	Verified      bool
	Calls, Tokens int
}

// A Trial is how a held-back question went with a memory, and without.
type Trial struct {
	Lesson
	With, Without Outcome
}

// ErrNone says that a file has no question.
var ErrNone = errors.New("there is no question in it")

// Read reads the questions of a file, one in each line, perhaps with "=> ANSWER" at its end. Empty
// lines and those that begin with # are none.
func Read(path string) (all []Lesson, err error) {
	b, err := disk.ReadFile(path, disk.MaxText)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(b)) {
		question, answer := line, ""
		if at := strings.LastIndex(line, "=>"); at >= 0 {
			question, answer = line[:at], line[at+2:]
		}
		if question = strings.TrimSpace(question); question != "" && question[0] != '#' {
			all = append(all, Lesson{Question: question, Answer: strings.TrimSpace(answer)})
		}
	}
	if len(all) == 0 {
		return nil, ErrNone
	}
	return all, nil
}

// split holds every third question back.
func split(lessons []Lesson) (taught, held []Lesson) {
	for i, l := range lessons {
		if i%heldBack == heldBack-1 {
			held = append(held, l)
		} else {
			taught = append(taught, l)
		}
	}
	return taught, held
}

// good reports whether an answer is right or, if none is given, verified.
func (l Lesson) good(o Outcome) bool {
	if l.Answer == "" {
		return o.Verified
	}
	found := compare.Answers(compare.Answer{Words: o.Answer}, compare.Answer{Words: l.Answer},
		compare.Asked{Decimals: -1, Order: compare.Free})
	return found.Sameness == compare.Same
}

// standing is an outcome in words.
func (l Lesson) standing(o Outcome) string {
	said := term.Fit(term.Printed(o.Answer), 24)
	switch {
	case l.Answer != "" && l.good(o):
		said += ", right"
	case l.Answer != "":
		said += ", wrong"
	}
	if o.Verified {
		said += ", verified"
	}
	return said
}

// Print prints how the held-back questions went with a memory, which the title names.
func Print(out io.Writer, trials []Trial, title string) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "HELD BACK\t%s\tCALLS\tTOKENS\tWITHOUT\tCALLS\tTOKENS\n", title)
	for _, t := range trials {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%s\t%d\t%d\n", term.Fit(term.Printed(t.Question), 48),
			t.standing(t.With), t.With.Calls, t.With.Tokens, t.standing(t.Without), t.Without.Calls,
			t.Without.Tokens)
	}
	_ = w.Flush() // what cannot be shown is kept all the same
}
