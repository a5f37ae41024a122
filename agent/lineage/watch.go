package lineage

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"dsstar/agent/brief"
)

// Watch returns a cell that has a session watch what pandas does for the cells that follow, and a
// cell after them that ends it and prints what [Watched] reads; "" if they do not use pandas. The
// cells see no other names.
func Watch(cells []string) (begin, end string) {
	if !slices.ContainsFunc(cells, func(code string) bool { return strings.Contains(code, "pandas") }) {
		return "", ""
	}
	list, _ := json.Marshal(cells) // strings cannot fail
	begin = "exec(" + brief.Python(fmt.Sprintf(`import sys, types
module = sys.modules["dsstar_watch"] = types.ModuleType("dsstar_watch")
exec(%s, module.__dict__)
module.install(__import__("json").loads(%s))`, brief.Python(python("constants.py", "watch.py")),
		brief.Python(string(list)))) + ", {})"
	return begin, `__import__("sys").modules.pop("dsstar_watch").report(globals())`
}

// Watched says what was seen, for a question: doubts about the answer, and notes for whoever reads
// it.
func Watched(printed, question string) (doubts, notes []string) {
	var seen struct {
		Merges []struct {
			Line              string
			Left, Rows, Pairs int
			Matching          [2]int // rows of each side that have a partner
			Many              bool   // more pairs than either side has such rows
		}
		Absent []struct {
			Column, Value, Like string // Column "": it was looked for in some other way
			Numbers             bool   // the column holds numbers
		}
	}
	if json.Unmarshal([]byte(printed), &seen) != nil {
		return nil, nil
	}
	for _, m := range seen.Merges {
		if m.Many {
			doubts = append(doubts, fmt.Sprintf(
				"a merge makes %d rows of the %d and %d that match each other: %s", m.Pairs,
				m.Matching[0], m.Matching[1], m.Line))
		} else if m.Rows < m.Left {
			notes = append(notes, fmt.Sprintf("a merge kept %d of %d rows: %s", m.Rows, m.Left, m.Line))
		}
	}
	for _, a := range seen.Absent {
		none := fmt.Sprintf("no row has %q", a.Value)
		if a.Column != "" {
			none += fmt.Sprintf(" in %s, with which a cell compares", a.Column)
		}
		switch {
		case a.Numbers:
			doubts = append(doubts, none+": the column holds numbers, no text")
		case a.Like != "":
			doubts = append(doubts, fmt.Sprintf("%s; rows have %q", none, a.Like))
		case !strings.Contains(question, a.Value):
			doubts = append(doubts, none)
		}
	}
	slices.Sort(doubts)
	slices.Sort(notes)
	return slices.Compact(doubts), slices.Compact(notes)
}
