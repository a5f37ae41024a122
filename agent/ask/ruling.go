package ask

import (
	"cmp"
	"errors"

	"dsstar/agent/record"
	"dsstar/prompts"
)

// A Ruling says why two derivations differ.
type Ruling struct {
	Ruling  string   `json:"ruling"` // see [record.RuledSame] and the others
	Reason  string   `json:"reason" jsonschema:"one or two sentences"`
	Wrong   int      `json:"wrong_step,omitempty" jsonschema:"of first: the number of the wrong step"` // 0: not said
	Point   string   `json:"reading,omitempty" jsonschema:"of reading: what the derivations take differently"`
	Options []string `json:"options" jsonschema:"of reading: how the first takes it, how the second does; else empty"`
}

// Rulings reads a ruling on two derivations. steps is the number of steps of the first.
func Rulings(steps int) Format[Ruling] {
	const rule = "Reply in the form asked for: one ruling, which is same, first, second, reading or " +
		"undecided, and the reason; with reading what is left open and the two options."
	return formatOf("ruling", rule, prompts.RulingForm{}, func(r Ruling) (Ruling, error) {
		ruling, rest, err := chosenIn("ruling", r.Ruling)
		r.Ruling, r.Reason = ruling, cmp.Or(r.Reason, rest)
		switch {
		case err != nil:
		case r.Wrong > steps:
			err = noSuchStep(r.Wrong, steps)
		case ruling == record.RuledSecond && r.Reason == "":
			err = errors.New("it does not say what the mistake is")
		case ruling == record.RuledReading && (r.Point == "" || len(r.Options) != 2):
			err = errors.New("it does not say what is left open, with two different options")
		}
		return r, err
	})
}
