package agent_test

import (
	"strings"
	"testing"

	"dsstar/agent"
	"dsstar/agent/ask"
	"dsstar/agent/describe"
	"dsstar/agent/memory"
	"dsstar/agent/record"
	"dsstar/prompts"
)

// ahead returns the configuration and the task of a request about two files, and its model.
func ahead(t *testing.T, replies script) (agent.Config, record.Task, *model) {
	t.Helper()
	set, err := loadPrompts()
	if err != nil {
		t.Fatal(err)
	}
	s, m := &stage{}, newModel(simple.with(replies))
	withData(t, map[string]string{"a.csv": "a\n1\n", "b.csv": "b\n1\n"})(s)
	return agent.Config{
		Settings: ask.Settings{Model: m, Prompts: set, ResultChars: 6000, DescriptionChars: 6000, ContextChars: 8000},
		Options:  describe.Options{DebugTries: 2, TopK: 5, Jobs: 2},
		Open:     (&world{t: t}).Open, MaxRounds: 6,
	}, s.task, m
}

// TestMakeQuestions: the request has the files and what was asked before, and no more questions are
// taken than were wanted.
func TestMakeQuestions(t *testing.T) {
	config, task, m := ahead(t, script{"asker": "raw:Question: A?\nForm: a number\nQuestion: B?\nForm: a name\nQuestion: C?\nForm: x"})
	tr, questions, err := agent.MakeQuestions(t.Context(), config, task, 2, []string{"Was it so?"})
	if err != nil || len(questions) != 2 || questions[1].Question != "B?" || questions[1].Form != "a name" {
		t.Errorf("%+v, %v", questions, err)
	}
	text := m.prompt(t, "asker the data")
	for _, part := range []string{"a.csv", "b.csv", "Was it so?", "Make 2 questions"} {
		if !strings.Contains(text, part) {
			t.Errorf("the request lacks %q:\n%s", part, text)
		}
	}
	if tr.Usage.Calls == 0 || !tr.Ended {
		t.Errorf("%+v", tr.Usage)
	}
	config, task, _ = ahead(t, script{"asker": "cut:Question: A?"})
	if _, _, err := agent.MakeQuestions(t.Context(), config, task, 2, nil); err == nil {
		t.Error("a reply that cannot be read is an error")
	}
}

// TestProposeRevision: the request has facts by number, functions with their cases, and the cells of
// questions.
func TestProposeRevision(t *testing.T) {
	config, task, m := ahead(t, script{"reviser": "raw:- Fact 2: withdrawn: wrong"})
	known := &memory.Memory{Facts: []memory.Fact{{Text: "One.", Source: "a.csv"}, {Text: "Two."}},
		Tools: []memory.Tool{{Name: "total", Code: "def total():\n    return 1", Test: "assert total() == 1\n"}}}
	_, r, err := agent.ProposeRevision(t.Context(), config, task, known,
		[]prompts.Example{{Question: "How many?", Cells: "print(total())", Uses: "total"}, {Question: "Who?", Cells: "print(7)"}})
	if err != nil || len(r.Facts) != 1 || r.Facts[0].Old[0] != "Two." {
		t.Errorf("%+v, %v", r, err)
	}
	text := m.prompt(t, "reviser the data")
	for _, part := range []string{"a.csv", "1. One. — source: a.csv\n2. Two.", "return 1\n\nassert total() == 1", "How many?",
		"print(total())", "print(7)"} {
		if !strings.Contains(text, part) {
			t.Errorf("the request lacks %q:\n%s", part, text)
		}
	}
}
