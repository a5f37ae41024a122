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
	"dsstar/notebook/lists"
)

// The module that counts. The part that installs it comes last.
var (
	//go:embed rows_sql.py
	rowsSQL string
	//go:embed rows.py
	rowsCode string
)

// What is kept of the lines on the rows of a cell. The module in the session has the same bounds.
const (
	maxRows  = 30
	rowChars = 300
)

// rowsOf returns what the program in the session counted while the last cell ran, which came after a
// chain: nothing if the session is not there any more, or somebody else's.
func (r *run) rowsOf(ctx context.Context, w *workspace, chain record.Chain, code string) ([]string, error) {
	chain.Steps = append(slices.Clip(chain.Steps), code)
	lines, err := counted[string](ctx, w, "rows", chain, nil, "tell()")
	lines = lists.Map(lines[:min(len(lines), maxRows)], inLine)
	r.asker.Mask.Learn(strings.Join(lines, "\n"))
	return lines, err
}

// receiptsOf returns what is behind each number of an answer that the last cell printed.
func (r *run) receiptsOf(ctx context.Context, code, answer string) (all []record.Receipt, err error) {
	chain := r.chain()
	chain.Steps = append(slices.Clip(chain.Steps), code)
	call := "receipts(" + brief.Python(answer) + ", " + brief.Python(r.t.Task.Question) + ")"
	said, err := counted[[2]string](ctx, r.work, "receipts", chain, answer, call)
	return lists.Map(said[:min(len(said), maxRows)], func(one [2]string) record.Receipt {
		return record.Receipt{Number: inLine(one[0]), Behind: inLine(one[1])}
	}), err
}

// counted returns the list that a call of the module prints where a chain has led.
func counted[T any](ctx context.Context, w *workspace, kind string, chain record.Chain, of any, call string) (all []T, err error) {
	if w.purpose != Work || w.host != nil || w.run.t.Method.Script || w.run.cfg.Baseline != nil {
		return nil, nil
	}
	if w.session == nil || !w.session.Alive() || w.lost || !slices.Equal(w.at, chain.Cells()) {
		all, _ = journal.Known[[]T](w.run.t.Journal, kind, []any{w.state(chain), of})
		return all, nil
	}
	return look(ctx, w, kind, chain, of, func(ctx context.Context) (all []T, err error) {
		defer w.run.kernel.Start()()
		x, err := w.session.Silently(ctx, "__import__('sys').modules['dsstar_rows']."+call, tellPatience)
		if err != nil || x.Status != notebook.OK || json.Unmarshal([]byte(x.Stdout()), &all) != nil {
			return nil, ctx.Err() // nothing was counted
		}
		return all, nil
	})
}

func inLine(text string) string {
	return brief.Clip(brief.OneLine(strings.ToValidUTF8(text, "\uFFFD")), rowChars)
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
		add(fmt.Sprintf("step %d", i+1), round.Accepted())
	}
	add("last cell", r.t.FinalCell())
	if size := len(strings.Join(lines, "\n")); size > r.asker.Sizes().Result { // warnings stay
		lines = slices.DeleteFunc(lines, func(line string) bool { return !strings.HasPrefix(line, "Warning ") })
	}
	return strings.Join(lines, "\n"), warnings
}
