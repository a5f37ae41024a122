package main

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/kernels/kernelstest"
	"dsstar/kernel"
	"dsstar/kernel/kerneltest"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
)

// ofThree is a model whose second step has three candidates, of which it picks the second.
func ofThree() roles {
	m := counting()
	m["planner"] = say("Load.", "Add up.")
	m["coder"] = say(
		cell("import os, random\nparts = [40]\nprint(len(parts))"), // and twice more
		cell("import os, random\nparts = [40]\nprint(len(parts))"), cell("import os, random\nparts = [40]\nprint(len(parts))"),
		cell("parts.append(100)\nopen('note.txt', 'w').write('x')\nrandom.random()\ntotal = sum(parts)\nprint(total)"),
		cell("parts.append(2)\ntotal = sum(parts)\nprint(total, os.path.exists('note.txt'), random.random() == random.Random(0).random())"),
		cell("parts.clear()\nother = 1\nprint(parts['n'])"),
	)
	m["verifier"] = say("Verdict: insufficient\nMissing: the total.", sufficient)
	m["router"] = say("Add Step")
	m["picker"] = say("Choice: 2\nReason: it adds what the file has.")
	m["finalizer"] = say(cell("assert 'other' not in globals()\nprint(total)"))
	return m
}

// TestCandidates: of three cells on the same state of a real kernel the second is
// picked, and neither of the others has left a trace, in variables, in what was
// changed in place, or in files.
func TestCandidates(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	s := askNB(t, dataFolder(t, numbers), ofThree().serve(t).URL, "--candidates", "3")
	s.expect(exitVerified, "candidate 1 ran in", "candidate 3 failed: TypeError", "candidate 2 is chosen: it adds what the file has.",
		"the session is back at the accepted cells (2), by ")
	tr := s.trajectory()
	round := tr.Rounds[1]
	if a, ok := round.Accepted(); !ok || a.Execution.Stdout() != "42 False True\n" || len(round.Attempts) != 3 || len(tr.Rounds[0].Attempts) != 1 {
		t.Errorf("accepted %v, attempts %+v", ok, round.Attempts)
	}
	if tr.Method.Candidates != 3 || round.Pick == nil || *round.Pick != (record.Pick{Candidate: 2, Of: 3, Reason: "it adds what the file has."}) {
		t.Errorf("method %+v, pick %+v", tr.Method, round.Pick)
	}
	if len(round.Returns) != 3 || round.Returns[0].Way == "" || round.Returns[0].Seconds <= 0 || round.Returns[2].Way == notebook.ByCheckpoint && round.Returns[2].Kept != round.Returns[0].Kept+1 {
		t.Errorf("it went back %+v", round.Returns)
	}
	if s.stdout != "42\n" {
		t.Errorf("stdout %q", s.stdout)
	}
	if _, err := os.Stat(filepath.Join(s.out, "files", "note.txt")); err == nil {
		t.Error("the file of a candidate that was not chosen is there")
	}
	path := filepath.Join(s.out, "notebook.ipynb")
	validate(t, path)
	s.again("http://127.0.0.1:1/v1", "--rollback", "off").expect(exitUsage, "hint: dsstar resume --rollback auto")

	again := askNB(t, s.data, "http://127.0.0.1:1/v1", "--candidates", "3", "--model", "replay:"+filepath.Join(s.out, "trace.jsonl"))
	again.expect(exitVerified, "candidate 2 is chosen")
	stdout, stderr := rerunCode(t.Context(), t, 0, "--check", "--round", "2", path)
	wantText(t, "the round", stdout, "candidate 1 same     ran\n", "candidate 3 same     raised TypeError", "candidate 2 same     ran\n")
	wantText(t, "its outputs", stderr, "\n140\n", "\n42 False True\n")
}

// TestCandidatesServed: in a kernel of a server, too, the state of each candidate is kept, and the cell that is picked does
// not run again.
func TestCandidatesServed(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there are checkpoints on Linux only")
	}
	pyenvtest.Long(t)
	t.Parallel()
	spec, err := kernel.CheckpointSpec(kernel.PythonSpec(pyenvtest.Python(t)), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	server := kerneltest.JupyterServer(t, pyenvtest.Tools(t), map[string]map[string]any{
		"freezing": {"argv": spec.Argv, "env": spec.Env, "display_name": "Freezing", "language": "python"},
	})
	s := attached(t, kernelstest.Env(t, t.TempDir()), ofThree().serve(t).URL, "--server", server.URL+"?token="+server.Token, "--kernel", "freezing", "--candidates", "3", "--yes")
	s.expect(exitVerified, "candidate 2 is chosen")
	backs := s.trajectory().Rounds[1].Returns
	if len(backs) != 3 || backs[2].Way != notebook.ByCheckpoint || backs[2].Kept != backs[0].Kept+1 {
		t.Errorf("%+v", backs)
	}
}
