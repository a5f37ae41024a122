package ask

import (
	"fmt"
	"strings"

	"dsstar/agent/record"
	"dsstar/notebook/lazy"
	"dsstar/prompts"
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

// Solutions reads a step and its cell, and the readings if they are asked for. Some replies name
// readings all the same.
func Solutions(readings bool) Format[Solution] {
	words := prompts.SolutionForm{Readings: readings}
	if readings {
		return formatOf("readings", solutionRule+readingRule, words, solution.read)
	}
	f := formatOf("solution", solutionRule, words, solution.read, "readings")
	f.Parse = reads(solution.read)
	return f
}

func (form solution) read() (s Solution, err error) {
	s.Step = form.Step
	if s.Code, err = codeOf(form.Code); err == nil {
		err = isSaid(form.Step)
	}
	if err == nil {
		s.Readings, err = readingsOf(form.Readings)
	}
	return s, err
}

// noReading matches what stands for a reading where there is none.
var noReading = lazy.Regexp(`(?i)^(?:$|(?:there\s+(?:is|are)\s+)?(?:no|none|nothing)\b)`)

// readingsOf returns readings. One that cannot be read has a problem and no options; then the error
// is an errPart.
func readingsOf(said []reading) (all []record.Reading, err error) {
	for _, one := range said {
		if len(one.Options) == 0 && noReading().MatchString(one.Point) {
			continue
		}
		r := record.Reading{Point: one.Point, Chosen: one.Taken - 1, Evidence: one.Evidence,
			Settled: one.Settled && one.Evidence != ""}
		for _, text := range one.Options {
			r.Options = append(r.Options, record.Option{Text: text})
		}
		problem := ""
		switch {
		case one.Point == "":
			r.Point, problem = strings.Join(one.Options, " / "), "it is not said what is left open"
		case len(one.Options) < 2:
			problem = "there are no two different options"
		case r.Chosen < 0 || r.Chosen >= len(one.Options):
			problem = "it is not said which option is taken"
		}
		if problem != "" {
			r = record.Reading{Point: r.Point, Problem: problem}
			err = fmt.Errorf("%w: of the reading %q, %s", errPart, r.Point, problem)
		}
		all = append(all, r)
	}
	return all, err
}
