package lineage

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/brief"
)

//go:embed watch.py
var watcher string

// Watch returns a cell that has a session watch what pandas does for the cells that follow, and a
// cell after them that ends it and prints what [Watched] reads; "" if they do not use pandas. The
// cells see no other names.
func Watch(cells []string) (begin, end string) {
	if !slices.ContainsFunc(cells, func(code string) bool { return strings.Contains(code, "pandas") }) {
		return "", ""
	}
	list, _ := json.Marshal(cells) // strings cannot fail
	begin = fmt.Sprintf(`import sys, types
sys.modules["dsstar_watch"] = types.ModuleType("dsstar_watch")
exec(%s, sys.modules["dsstar_watch"].__dict__)
sys.modules["dsstar_watch"].install(__import__("json").loads(%s))
del sys, types`, brief.Python(watcher), brief.Python(string(list)))
	return begin, `__import__("sys").modules.pop("dsstar_watch").report(globals())`
}

// Watched says what was seen, for a question: doubts about the answer, and notes for whoever reads
// it.
func Watched(printed, question string) (doubts, notes []string) {
	var seen struct {
		Merges []struct {
			Line              string
			Left, Right, Rows int
			Outer             bool
		}
		Absent []struct{ Column, Value, Like string }
	}
	if json.Unmarshal([]byte(printed), &seen) != nil {
		return nil, nil
	}
	for _, m := range seen.Merges {
		most := max(m.Left, m.Right)
		if m.Outer {
			most = m.Left + m.Right
		}
		if m.Rows > most {
			doubts = append(doubts, fmt.Sprintf("a merge has %d rows, more than its sides with %d and %d: %s",
				m.Rows, m.Left, m.Right, m.Line))
		} else if m.Rows < m.Left {
			notes = append(notes, fmt.Sprintf("a merge kept %d of %d rows: %s", m.Rows, m.Left, m.Line))
		}
	}
	for _, a := range seen.Absent {
		switch {
		case a.Like != "":
			doubts = append(doubts, fmt.Sprintf("no row has %q in %s, with which a cell compares; rows have %q",
				a.Value, a.Column, a.Like))
		case !strings.Contains(question, a.Value):
			doubts = append(doubts, fmt.Sprintf("no row has %q in %s, with which a cell compares",
				a.Value, a.Column))
		}
	}
	slices.Sort(doubts)
	slices.Sort(notes)
	return slices.Compact(doubts), slices.Compact(notes)
}
