package agent

import (
	"fmt"
	"strings"
	"testing"

	"dsstar/agent/ask"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// ran is a step whose cell has printed a text.
func ran(code, out string) record.Round {
	return record.Round{Number: 7, Place: 1, Attempts: []record.Attempt{{Code: code, Execution: notebook.Execution{
		Status: notebook.OK, Outputs: []notebook.Output{{Type: notebook.Stream, Name: "stdout", Text: out}}}}}}
}

const counting = "# typed in it\nfor s, n in found: print(s, 'orders:', n)\nprint('The means agree')"

// takes is a run of one step, which takes the first options of points: of an open one with three options, of one
// that words of a file settle, of one that a person has chosen, and of one that an earlier question leaves open.
func takes() *run {
	r := &run{t: &record.Trajectory{Question: &record.Question{}}}
	r.t.Rounds = []record.Round{ran(counting, "paid orders: 1,234.5\nnot cancelled orders: 0\ntest orders: 0 of 99\nThe means agree\nno tests\n42\n\n")}
	for i, point := range []string{"Whether cancelled orders count.", "Which day is meant?", "What is a customer?", "Is tax included?"} {
		r.t.Readings = append(r.t.Readings, record.Reading{Point: point, Settled: i == 1, From: map[bool]string{true: "a.md"}[i == 1],
			ByUser: i == 2, Inherited: i == 3, Options: []record.Option{{Text: "a"}, {Text: "b"}, {Text: "c"}}})
	}
	return r
}

// TestHeed: what a verdict says of readings counts as far as a program finds what it rests on. A point that was
// open is closed by nothing but that.
func TestHeed(t *testing.T) {
	enough := record.Verdict{Sufficient: true}
	said := []int{1, 1, 1, 1}
	late := func(point string) []record.Reading {
		return []record.Reading{{Point: point, Options: []record.Option{{Text: "x"}, {Text: "y"}}}}
	}
	quotes := func(point, option int, quote string) []ask.Printed {
		return []ask.Printed{{Point: point, Option: option, Quote: quote}}
	}
	for _, c := range []struct {
		says string
		said ask.Judgement
		want string // of each point, what is due and what is decided
	}{
		{"nothing", ask.Judgement{}, "1:23 2:23 4:23"},
		{"adds one", ask.Judgement{Readings: late("Which shop is meant?")}, "1:23 2:23 4:23 5:2"},
		{"adds one, with enough", ask.Judgement{Verdict: enough, Takes: said, Readings: late("Which shop is meant?")}, "1:23 2:23 4:23 5:2"},
		{"adds what there is", ask.Judgement{Readings: late("Whether cancelled orders count.")}, "1:23 2:23 4:23"},
		{"a line that stands", ask.Judgement{Printed: quotes(1, 0, "test orders: 0 of 99")}, "1=23 2:23 4:23"},
		{"one option", ask.Judgement{Verdict: enough, Takes: said, Printed: quotes(1, 2, "Test orders 0")}, "1:3=2 2:23 4:23"},
		{"the option that is taken", ask.Judgement{Printed: quotes(1, 1, "test orders: 0")}, "1:23 2:23 4:23"},
		{"another number", ask.Judgement{Printed: quotes(1, 0, "test orders: 1")}, "1:23 2:23 4:23"},
		{"a part of a number", ask.Judgement{Printed: quotes(1, 0, "paid orders: 1,234")}, "1:23 2:23 4:23"},
		{"without its denial", ask.Judgement{Printed: quotes(1, 0, "cancelled orders: 0")}, "1:23 2:23 4:23"},
		{"with its denial", ask.Judgement{Printed: quotes(1, 0, "not cancelled orders: 0")}, "1=23 2:23 4:23"},
		{"typed in", ask.Judgement{Printed: quotes(1, 0, "The means agree")}, "1:23 2:23 4:23"},
		{"two words of more", ask.Judgement{Printed: quotes(1, 0, "paid orders")}, "1:23 2:23 4:23"},
		{"a short line", ask.Judgement{Printed: quotes(1, 0, "no tests")}, "1=23 2:23 4:23"},
		{"a number alone", ask.Judgement{Printed: quotes(1, 0, "42")}, "1:23 2:23 4:23"},
		{"nothing quoted", ask.Judgement{Printed: quotes(1, 0, "")}, "1:23 2:23 4:23"},
		{"across lines", ask.Judgement{Printed: quotes(1, 0, "0 of 99 the means")}, "1:23 2:23 4:23"},
		{"a person's choice", ask.Judgement{Printed: quotes(3, 0, "test orders: 0")}, "1:23 2:23 4:23"},
		{"an earlier question's", ask.Judgement{Printed: quotes(4, 0, "test orders: 0")}, "1:23 2:23 4:23"},
		{"no such point", ask.Judgement{Printed: quotes(9, 0, "test orders: 0")}, "1:23 2:23 4:23"},
		{"the cells take another", ask.Judgement{Verdict: enough, Takes: []int{2, 1, 1, 1}, Printed: quotes(1, 0, "test orders: 0")}, "1:23 2:23 4:23"},
		{"not what they take", ask.Judgement{Verdict: enough, Printed: quotes(1, 0, "test orders: 0")}, "1:23 2:23 4:23"},
		{"with its cell", ask.Judgement{Verdict: enough, Takes: said, Printed: quotes(1, 0, "test orders: 0"),
			Branches: []ask.Branch{{Point: 1, Option: 3, Code: "x"}}}, "1:3=2 2:23 4:23"},
	} {
		r := takes()
		r.heed(c.said)
		if got := stateOf(r); got != c.want {
			t.Errorf("%s: %s, want %s", c.says, got, c.want)
		}
	}

	r := takes() // later verdicts
	r.heed(ask.Judgement{Printed: quotes(1, 0, "test orders: 0")})
	for _, c := range []struct {
		said ask.Judgement
		want string
	}{
		{ask.Judgement{Verdict: enough, Takes: said}, "1=23 2:23 4:23"},
		{ask.Judgement{Verdict: enough, Takes: said, Decided: []int{1, 2}}, "1=23 2:23 4:23"},
		{ask.Judgement{Verdict: enough, Takes: said, Decided: []int{2}}, "1:23 2:23 4:23"},
	} {
		if r.heed(c.said); stateOf(r) != c.want {
			t.Errorf("%+v: %s, want %s", c.said, stateOf(r), c.want)
		}
	}
	r.heed(ask.Judgement{Printed: quotes(1, 0, "test orders: 0")})
	if r.add(late("Whether cancelled orders count."), true); stateOf(r) != "1:23 2:23 4:23" {
		t.Errorf("named again: %s", stateOf(r))
	}
	r.t.Rounds = append(r.t.Rounds, ran("note = 'test orders: 0 of'", ""))
	if got := r.outputWith("test orders: 0"); got != "" {
		t.Errorf("typed in by another step: %s", got)
	}
	r.t.Rounds = r.t.Rounds[:1]
	r.heed(ask.Judgement{Printed: quotes(1, 0, "test orders: 0")})
	r.t.Take(record.Route{Back: 1})
	if got := stateOf(r); got != "1:23 2:23 4:23" {
		t.Errorf("without the step that printed it: %s", got)
	}
}

// stateOf is, of each point, which options are to be computed, and which outputs decide.
func stateOf(r *run) string {
	var all []string
	for i, reading := range r.t.Readings {
		due, decided := "", ""
		for _, p := range r.due() {
			if p.Point == i+1 {
				due += fmt.Sprint(p.Option)
			}
		}
		for n, o := range reading.Options {
			if o.Decided != "" {
				decided += fmt.Sprint(n + 1)
			}
		}
		if due != "" {
			due = ":" + due
		}
		if decided != "" {
			decided = "=" + decided
		}
		if due+decided != "" {
			all = append(all, fmt.Sprint(i+1)+due+decided)
		}
	}
	return strings.Join(all, " ")
}

// TestTwins: a late reading is dropped if it is another one in other words, with the same answer under the other option.
func TestTwins(t *testing.T) {
	reading := func(answer, point string, options ...string) record.Reading {
		r := record.Reading{Point: point, Options: []record.Option{{Text: options[0]}, {Text: options[1]}}}
		r.Options[1].Answer, r.Options[1].Same = answer, answer == "5"
		return r
	}
	paid := reading("4349", "Which orders count?", "all of them", "only those that were paid")
	for _, c := range []struct {
		says  string
		first record.Reading
		late  record.Reading
		twin  bool
	}{
		{"in other words", paid, reading("4349", "whether paid orders alone count", "all orders", "paid orders"), true},
		{"another answer", paid, reading("4350", "whether paid orders alone count", "all orders", "paid orders"), false},
		{"no answer yet", paid, reading("", "whether paid orders alone count", "all orders", "paid orders"), false},
		{"of other things", paid, reading("4349", "Which customers count?", "all of them", "only those with a card"), false},
		{"few words", reading("No", "Which count?", "all", "some"), reading("No", "Which count?", "big", "small"), false},
		{"of years", reading("No", "Whether 2018 counts", "yes, it does", "no, it does not"),
			reading("No", "Whether 2019 counts", "yes, it does", "no, it does not"), false},
		{"both change nothing", reading("5", "Whether test orders of 2018 count", "they do", "they do not"),
			reading("5", "Do the test orders of 2018 count?", "yes", "no"), true},
		{"without blanks", reading("7", "取消的订单算不算", "算", "不算"), reading("7", "取消的订单算不算呢", "都算", "不算"), true},
	} {
		r := &run{t: &record.Trajectory{Question: &record.Question{}}}
		c.late.Late = true
		r.t.Readings = []record.Reading{c.first, c.late}
		if r.dropTwins(); (len(r.t.Readings) == 1) != c.twin || r.t.Readings[0].Late {
			t.Errorf("%s: %d are left", c.says, len(r.t.Readings))
		}
	}
}
