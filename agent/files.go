package agent

import (
	"context"
	"path/filepath"

	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/prompts"
)

// A journal records what describing finds.
type journal struct{ *run }

func (j journal) Warn(text string) error { return j.warn(text) }

func (j journal) Started(environment string) error {
	j.t.Environment = environment
	return j.observe(Event{Kind: Started, Text: environment})
}

func (j journal) Described(i int, d record.Description) error {
	j.mu.Lock()
	j.t.Descriptions[i] = d
	j.mu.Unlock()
	return j.observe(Event{Kind: Described, Text: d.File, Try: d.Tries})
}

// dataPath is the data folder, wherever one stands; "" if there is none.
func (r *run) dataPath() string {
	if r.t.Task.Data == "" || filepath.IsAbs(r.t.Task.Data) {
		return r.t.Task.Data
	}
	return filepath.Join(r.cfg.Dir, r.t.Task.Data)
}

// executeAll runs cells until one fails, whose execution is the last returned.
func executeAll(ctx context.Context, s Session, cells []string) ([]notebook.Execution, error) {
	var all []notebook.Execution
	for _, code := range cells {
		e, err := s.Execute(ctx, code)
		if err != nil {
			return all, err
		}
		if all = append(all, e); e.Status != notebook.OK {
			break
		}
	}
	return all, nil
}

// warn tells the user of something, once.
func (r *run) warn(text string) error { return r.observe(Event{Kind: Warned, Text: text}) }

// system is what every request begins with.
func (r *run) system() prompts.System {
	m := r.cfg.Method
	return prompts.System{Environment: r.t.Environment, Script: m.Script, Unfinished: !m.NoUnfinished, Inconclusive: !m.NoInconclusive && !m.PlanOnly,
		Variables: r.contextMade && variableWords(r.context()) != "", NoFiles: r.t.Task.Data == ""}
}
