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
		lines[0] = "There is no answer yet."
	}
	for _, o := range r.Readings {
		line := fmt.Sprintf("Reading of %q: %s", o.Point, o.Reading)
		if o.Chosen {
			line += " (taken)"
		}
		if line += ": " + cmp.Or(o.Answer, "not computed"); o.Differs != "" {
			line += " (" + o.Differs + ")"
		}
		lines = append(lines, line)
	}
	if r.Summary != "" {
		lines = append(lines, r.Label+": "+r.Summary)
	}
	for _, path := range r.Files {
		lines = append(lines, "File: "+path)
	}
	cost := human.Plural(r.Usage.Calls, "model call")
	if r.Usage.Cost != nil {
		cost += ", about " + human.Dollars(*r.Usage.Cost)
	}
	return strings.Join(append(lines, fmt.Sprintf("Cost: %s, %.0f s", cost, r.Seconds.Total),
		"Run: "+r.RunDir, "Notebook: "+r.Notebook), "\n")
}
