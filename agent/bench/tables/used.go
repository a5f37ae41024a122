package tables

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/bench/runner"
	"dsstar/agent/record"
)

// A Used is what the tasks of a run used by role, per task, and how often what was derived beside
// the answers changed anything.
type Used struct {
	Run         string              `json:"run"`
	Name        string              `json:"name"`
	Tasks       int                 `json:"tasks"` // with a result, repeats included
	Roles       []RoleUsed          `json:"roles"` // those with most calls first
	Derivations *record.Derivations `json:"derivations"`
}

// A RoleUsed is what one role used, per task.
type RoleUsed struct {
	Role   string  `json:"role"`
	Calls  float64 `json:"calls"`
	Input  float64 `json:"input_tokens"`
	Cached float64 `json:"cached_tokens"`
	Output float64 `json:"output_tokens"`
}

// usedBy returns what a run used.
func usedBy(r runner.Result) Used {
	u := Used{Run: r.Path, Name: named(r), Tasks: len(r.Records), Roles: []RoleUsed{}}
	of := map[string]record.Usage{}
	for _, one := range r.Records {
		for role, usage := range one.ByRole {
			sum := of[role]
			sum.Calls += usage.Calls
			sum.Add(usage.Usage)
			of[role] = sum
		}
		if one.Derivations != nil {
			if u.Derivations == nil {
				u.Derivations = &record.Derivations{}
			}
			u.Derivations.Add(one.Derivations)
		}
	}
	n := float64(max(1, len(r.Records)))
	for role, sum := range of {
		u.Roles = append(u.Roles, RoleUsed{role, float64(sum.Calls) / n, float64(sum.InputTokens) / n,
			float64(sum.CachedTokens) / n, float64(sum.OutputTokens) / n})
	}
	slices.SortFunc(u.Roles, func(a, b RoleUsed) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), strings.Compare(a.Role, b.Role))
	})
	return u
}

// Markdown returns a table of the roles, and the derivations below it; "" if no role is known.
func (u Used) Markdown() string {
	if len(u.Roles) == 0 {
		return ""
	}
	var rows [][]string
	for _, r := range u.Roles {
		rows = append(rows, []string{r.Role, fmt.Sprintf("%.2f", r.Calls), fmt.Sprintf("%.0f", r.Input),
			fmt.Sprintf("%.0f", r.Cached), fmt.Sprintf("%.0f", r.Output)})
	}
	text := fmt.Sprintf("\n%s, a task:\n\n", u.Name) +
		grid([]string{"Role", "Calls", "Input tokens", "Cached", "Output tokens"}, rows)
	if u.Derivations != nil {
		readings, second := u.Derivations.InWords()
		text += "- readings: " + readings + "\n- second derivations: " + second + "\n"
	}
	return text
}
