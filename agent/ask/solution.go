package ask

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/notebook/lazy"
)

// A Solution is the next step and its cell; that of a first step has readings, too.
type Solution struct {
	Step, Code string
	Readings   []record.Reading
}

type solution struct {
	Readings []reading `json:"readings" jsonschema:"what question and files leave open; may be empty"`
	Step     string    `json:"step" jsonschema:"the next step, in a few sentences"`
	Code     string    `json:"code" jsonschema:"the Python cell of the step"`
}

type reading struct {
	Point    string   `json:"point" jsonschema:"what is left open, in one sentence"`
	Options  []string `json:"options" jsonschema:"two or more ways to take it"`
	Taken    int      `json:"taken" jsonschema:"the number of the option that the code takes, from 1"`
	Evidence string   `json:"evidence,omitempty" jsonschema:"the sentence that decides, with its source; null: none"`
	Settled  bool     `json:"settled" jsonschema:"whether that sentence decides"`
}

const (
	solutionRule = "Reply in the form asked for: the step in words, and its cell as one block of Python."
	readingRule  = " Of each reading it says what is left open, two different options or more, and the " +
		"number of the one that the cells take."
)

var errNoStep = errors.New("it gives no step")

// Solutions reads a step and its cell, and the readings if they are asked for.
func Solutions(readings bool) Format[Solution] {
	if readings {
		return formatOf("solution", "readings", solutionRule+readingRule, solutionIn)
	}
	f := formatOf("solution", "solution", solutionRule, solutionIn, "readings")
	f.Parse = reads("readings", solutionIn) // some name them all the same
	return f
}

func solutionIn(_ solution, f *said) (s Solution, err error) {
	s.Step = f.step()
	s.Code, err = f.code()
	switch {
	case err != nil:
		return s, err
	case s.Step == "":
		return s, errNoStep
	case refuses(s.Step):
		return s, errRefusal
	}
	s.Readings, err = f.readings()
	return s, err
}

var twoWords = lazy.Regexp(`\pL+[^\pL]+\pL+`)

// step returns the step in one line; without a label, what stands before the code.
func (f *said) step() string {
	text, labelled := f.text["step"]
	if !labelled {
		text = withoutIntro(f.lead)
		if !twoWords().MatchString(text) {
			return ""
		}
	}
	if text = bareStep(text); isNothing(text) {
		return ""
	}
	return brief.Clip(text, 2000)
}

// noReading matches what stands for a reading where there is none.
var noReading = lazy.Regexp(`(?i)^\W*(?:n/a\b|null\b|(?:there\s+(?:is|are)\s+)?(?:no|none|nothing)\b|$)`)

// readings returns the readings. That one cannot be read is a [*PartError].
func (f *said) readings() (all []record.Reading, err error) {
	for _, part := range f.parts {
		if len(part.items) == 0 && noReading().MatchString(part.text["point"]) {
			continue
		}
		r := part.reading()
		if r.Problem != "" {
			err = &PartError{fmt.Errorf("of the reading %q, %s", r.Point, r.Problem)}
		}
		all = append(all, r)
	}
	return all, err
}

// reading returns the reading of a part. If that cannot be read, it has a problem and no options.
func (f *said) reading() record.Reading {
	var said reading
	f.into(&said)
	taken := f.taken(said.Options)
	switch {
	case said.Point == "":
		point := brief.OneLine(strings.Join(f.items, " / "))
		return record.Reading{Point: point, Problem: "it is not said what is left open"}
	case len(said.Options) < 2:
		return record.Reading{Point: said.Point, Problem: "there are no two different options"}
	case taken < 0:
		return record.Reading{Point: said.Point, Problem: "it is not said which option is taken"}
	}
	r := record.Reading{Point: said.Point, Chosen: taken, Evidence: said.Evidence,
		Settled: said.Settled && said.Evidence != ""}
	for _, text := range said.Options {
		r.Options = append(r.Options, record.Option{Text: text})
	}
	return r
}

// options returns the options that are not empty; nil if two are the same, or there are too many.
func (f *said) options() (all []string) {
	if len(f.items) > 20 {
		return nil
	}
	for _, text := range f.items {
		text = bareStep(text)
		if slices.ContainsFunc(all, func(o string) bool { return sameWords(o, text) }) {
			return nil
		}
		if !isNothing(text) {
			all = append(all, brief.Clip(text, 600))
		}
	}
	return all
}

// sameWords reports whether two options differ in case, spaces and marks around words at most.
func sameWords(a, b string) bool {
	words := func(text string) (all []string) {
		for _, word := range strings.Fields(text) {
			if word = strings.Trim(word, "\"'“”‘’`*_()[].,;:!?"); word != "" {
				all = append(all, word)
			}
		}
		return all
	}
	return slices.EqualFunc(words(a), words(b), strings.EqualFold)
}

var letterIn = lazy.Regexp(`(?i)^\W*(?:option\s+)?([a-d])\b`)

// taken returns the index of the option that is taken; -1 if it is not said.
func (f *said) taken(options []string) int {
	said := f.line("taken")
	if i := slices.IndexFunc(options, func(text string) bool {
		return sameWords(said, text)
	}); i >= 0 {
		return i
	}
	all := f.numbers("taken")
	if m := letterIn().FindStringSubmatch(said); m != nil {
		all = numbers{int(m[1][0]|0x20-'a') + 1}
	}
	if len(all) == 0 || all[0] > len(options) || f.again["taken"] {
		return -1
	}
	return all[0] - 1
}
