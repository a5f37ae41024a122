package agent

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/journal"
	"dsstar/agent/record"
	"dsstar/notebook"
)

//go:embed rows.py
var rowsCode string

// What is kept of the lines on the rows of a cell. The module in the session has the same bounds.
const (
	maxRows  = 30
	rowChars = 300
)

// rowsOf returns what the program in the session counted while the last cell ran, which came after a
// chain: nothing if the session is not there any more, or somebody else's.
func (r *run) rowsOf(ctx context.Context, w *workspace, chain record.Chain, code string) (lines []string, err error) {
	if w.purpose != Work || w.host != nil || r.t.Method.Script || r.cfg.Baseline != nil {
		return nil, nil
	}
	chain.Steps = append(slices.Clip(chain.Steps), code)
	on := []any{w.state(chain), nil}
	if w.session == nil || !w.session.Alive() || w.lost || !slices.Equal(w.at, chain.Cells()) {
		lines, _ = journal.Known[[]string](r.t.Journal, "rows", on)
	} else {
		lines, err = look(ctx, w, "rows", chain, nil, w.counted)
	}
	r.asker.Mask.Learn(strings.Join(lines, "\n"))
	return lines, err
}

// counted returns the lines of the module.
func (w *workspace) counted(ctx context.Context) (lines []string, err error) {
	defer w.run.kernel.Start()()
	x, err := w.session.Silently(ctx, "__import__('sys').modules['dsstar_rows'].tell()", tellPatience)
	if err != nil || x.Status != notebook.OK || json.Unmarshal([]byte(x.Stdout()), &lines) != nil {
		return nil, ctx.Err() // nothing was counted
	}
	lines = lines[:min(len(lines), maxRows)]
	for i, line := range lines {
		lines[i] = brief.Clip(brief.OneLine(strings.ToValidUTF8(line, "\uFFFD")), rowChars)
	}
	return lines, nil
}

// counts returns the lines on the rows of all accepted cells, as requests show them, and how many of
// them are warnings, which are numbered.
func (r *run) counts() (text string, warnings int) {
	var lines []string
	add := func(of string, a record.Attempt) {
		for _, line := range a.Rows {
			warning, is := strings.CutPrefix(line, record.WarningMark)
			if line = of + ", " + line; is {
				warnings++
				line = fmt.Sprintf("Warning %d: %s, %s", warnings, of, warning)
			}
			lines = append(lines, line)
		}
	}
	for i, round := range r.t.Accepted() {
		a, _ := round.Accepted()
		add(fmt.Sprintf("step %d", i+1), a)
	}
	if last, ok := r.t.FinalCell(); ok {
		add("last cell", last)
	}
	if size := len(strings.Join(lines, "\n")); size > r.asker.Sizes().Result { // warnings stay
		lines = slices.DeleteFunc(lines, func(line string) bool { return !strings.HasPrefix(line, "Warning ") })
	}
	return strings.Join(lines, "\n"), warnings
}
