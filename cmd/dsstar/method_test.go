package main

import (
	"path/filepath"
	"strings"
	"testing"

	"dsstar/agent/llm/llmtest"
)

// TestBudget: a run that has spent its calls ends with its own exit code and a
// notebook of all up to there.
func TestBudget(t *testing.T) {
	t.Parallel()
	m := counting()
	m["verifier"] = say("Verdict: insufficient\nMissing: the mean.", sufficient)
	m["router"] = say("Add Step")
	model := m.serve(t)
	s := ask(t, dataFolder(t, numbers), model.URL, "--max-calls", "5")
	s.expect(exitBudget, "the budget is spent: 5 model calls", "dsstar: hint: dsstar resume")
	if n := len(model.Requests()); n != 5 {
		t.Errorf("%d calls were made", n)
	}
	validate(t, filepath.Join(s.out, "notebook.ipynb"))
	if tr := s.trajectory(); len(tr.Rounds) != 1 || tr.Failure == "" || tr.Rounds[0].Verdict == nil {
		t.Errorf("rounds %+v, failure %q", tr.Rounds, tr.Failure)
	}
	ask(t, dataFolder(t, numbers), model.URL, "--max-cost", "1").expect(exitUsage, "the price of scripted is not known", "prices:")
	m["coder"] = say(cell("import time\ntime.sleep(60)"))
	ask(t, dataFolder(t, numbers), m.serve(t).URL, "--max-time", "8s").expect(exitBudget, "the budget is spent: 8s")
}

// TestPaper runs the method as published in a real kernel: each round's script
// starts from nothing, and the notebook has the last one alone.
func TestPaper(t *testing.T) {
	t.Parallel()
	first := "import pandas as pd\nassert 'x' not in globals()\nx = pd.read_csv('data/numbers.csv')\nprint(len(x))"
	model := llmtest.New(t, func(r llmtest.Request) llmtest.Response {
		text := r.Last()
		switch {
		case strings.Contains(text, "Write a Python script that reads a data file"):
			return say(cell("print(open(path).read())"))[0]
		case strings.Contains(text, "Propose"):
			return say("Count the numbers.")[0]
		case strings.Contains(text, "Write a Python script that carries out this step"):
			return say(cell(first))[0]
		case strings.Contains(text, "Write the script again so that it carries out"):
			return say(cell(first + "\nprint(x['n'].sum())"))[0]
		case strings.Contains(text, "Judge whether the plan and the script") && strings.Contains(text, "x['n'].sum()"):
			return say("Yes")[0]
		case strings.Contains(text, "Judge whether the plan and the script"):
			return say("No.")[0]
		case strings.Contains(text, "Decide how the plan goes on"):
			return say("Add Step")[0]
		case strings.Contains(text, "so that it prints the answer"):
			return say(cell("import pandas as pd\nprint(pd.read_csv('data/numbers.csv')['n'].sum())"))[0]
		}
		t.Errorf("an unexpected request:\n%s", text)
		return llmtest.Refuse(400, "", "unexpected")
	})
	s := ask(t, dataFolder(t, numbers), model.URL, "--paper")
	s.expect(exitVerified)
	if s.stdout != "42\n" {
		t.Errorf("stdout %q", s.stdout)
	}
	tr := s.trajectory()
	if len(tr.Rounds) != 2 || !tr.Method.Script || len(tr.Cells()) != 3 {
		t.Errorf("%d rounds, %d cells, method %+v", len(tr.Rounds), len(tr.Cells()), tr.Method)
	}
	validate(t, filepath.Join(s.out, "notebook.ipynb"))
}

// TestRetriever: an embedding model chooses the files that are shown, and a
// replay chooses the same ones without it.
func TestRetriever(t *testing.T) {
	t.Parallel()
	files := map[string]string{"numbers.csv": numbers["numbers.csv"]}
	for _, name := range []string{"wind", "rain", "total"} {
		files[name+".csv"] = name + "\n1\n"
	}
	data, m := dataFolder(t, files), counting()
	m["analyzer"] = say(cell("print(open(path).read())"))
	model := llmtest.New(t, func(r llmtest.Request) llmtest.Response {
		if r.Input == nil {
			return m[roleOf(t, r)][0]
		}
		var all llmtest.Response
		for _, text := range r.Input {
			all.Vectors = append(all.Vectors, llmtest.Embed(text))
		}
		return all
	})
	s := ask(t, data, model.URL, "--top-k", "2", "--embedding-model", "embed", "--no-families")
	s.expect(exitVerified)
	tr := s.trajectory()
	if len(tr.Descriptions) != 2 || tr.Task.Others != 2 || tr.ByRole["retriever"].Calls != 1 {
		t.Errorf("%d files shown, %d not, usage %+v", len(tr.Descriptions), tr.Task.Others, tr.ByRole)
	}
	if warned := strings.Join(tr.Warnings, "\n"); strings.Contains(warned, "embedding") {
		t.Errorf("warnings %q", tr.Warnings)
	}
	again := ask(t, data, "http://127.0.0.1:1/v1", "--top-k", "2", "--no-families", "--model", "replay:"+filepath.Join(s.out, "trace.jsonl"))
	again.expect(exitVerified)
	ask(t, data, m.serve(t).URL, "--top-k", "2", "--no-families").expect(exitVerified, "no embedding model is set")
}
