package main

import (
	"context"
	"fmt"
	"strings"

	"dsstar/agent/describe"
	"dsstar/cmd/dsstar/internal/progress"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/notebook/human"
)

// A priceError is an estimate above ask_above_tokens when nobody can be asked.
type priceError struct{ text string }

func (e *priceError) Error() string { return e.text }

// anyPrice goes on without asking.
var anyPrice = usage.Again("--ask-above-tokens", "0")

// afford reports the estimated cost of describing the files, and asks if it exceeds the setting.
func (a *app) afford(j job) func(context.Context, describe.Estimate) error {
	return func(ctx context.Context, e describe.Estimate) error {
		cost := ""
		if e.Cost != nil {
			cost = fmt.Sprintf(", %.2f US dollars", *e.Cost)
		}
		what, question, rest := "describing "+human.Plural(e.Files, "file"), "Describe them?", "the rounds come on top"
		if e.Ranking {
			what, question, rest = "ranking "+human.Plural(e.Files, "file")+" by the embedding model", "Rank them?", "descriptions and rounds come on top"
		}
		about := fmt.Sprintf("%s: %s with about %s input tokens%s", what, human.Plural(e.Calls, "model call"), human.Count(e.InputTokens), cost)
		most := j.settings.AskAboveTokens
		if most == 0 || e.InputTokens <= most || j.yes {
			j.progress.Say("estimate %s; %s", about, rest)
			return nil
		}
		lines := []string{"estimate " + about, fmt.Sprintf("         That is more than ask_above_tokens, %s. A folder with fewer files takes fewer tokens.", human.Count(most))}
		if !a.stdinTTY || !a.stderrTTY {
			text := what + " takes more than ask_above_tokens, and nobody can be asked: --ask-above-tokens 0 goes on without asking\n" + strings.Join(lines, "\n")
			return &priceError{text}
		}
		defer j.progress.Wait(progress.DescribingFiles)
		return a.agree(ctx, j.progress, false, lines, "", "         "+question+" [y/N] ")
	}
}
