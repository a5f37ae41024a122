package mcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"dsstar/notebook/human"
)

// answerInWords is the result of a run for clients that read no structured content.
func answerInWords(out json.RawMessage) string {
	var r struct {
		Answer, Worth, Summary, Notebook, Script string
		Files                                    []string
		Label                                    string `json:"summary_label"`
		RunDir                                   string `json:"run_dir"`
		Readings                                 []struct {
			Point, Reading, Answer, Differs string
			Chosen                          bool
		}
		Usage struct {
			Calls int
			Cost  *float64 `json:"cost_usd"`
		}
		Seconds struct{ Total float64 }
	}
	if json.Unmarshal(out, &r) != nil {
		return string(out)
	}
	lines := []string{"Answer: " + r.Answer, r.Worth}
	if r.Answer == "" {
		lines = []string{"There is no answer yet.", r.Worth}
	}
	for _, o := range r.Readings {
		taken := ""
		if o.Chosen {
			taken = " (taken)"
		}
		if o.Differs != "" {
			o.Answer += " (" + o.Differs + ")"
		}
		lines = append(lines, fmt.Sprintf("Reading of %q: %s%s: %s", o.Point, o.Reading, taken,
			cmp.Or(o.Answer, "not computed")))
	}
	if r.Summary != "" {
		lines = append(lines, r.Label+": "+r.Summary)
	}
	cost := ""
	if r.Usage.Cost != nil {
		cost = ", about " + human.Dollars(*r.Usage.Cost)
	}
	for _, path := range r.Files {
		lines = append(lines, "File: "+path)
	}
	calls := human.Plural(r.Usage.Calls, "model call")
	return strings.Join(append(lines, fmt.Sprintf("Cost: %s%s, %.0f s", calls, cost, r.Seconds.Total),
		"Run: "+r.RunDir, "Notebook: "+r.Notebook), "\n")
}
