package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/agent/llm/llmtest"
	"dsstar/notebook"
)

// TestGoingBack is promise 4 on a real kernel: a dropped step's in-place
// changes, files and use of random numbers leave no trace.
func TestGoingBack(t *testing.T) {
	t.Parallel()
	m := counting()
	m["coder"] = say(
		cell("import random, numpy as np\nlist1 = [40]\nprint(len(list1))"),
		cell("list1.append(100)\nopen('note.txt', 'w').write('x')\nrandom.random(); np.random.rand()\nprint('wrong')"),
		cell("import os\nlist1.append(2)\ntotal = sum(list1)\nprint(total, os.path.exists('note.txt'), random.random() == random.Random(0).random())"),
	)
	m["planner"] = say("First.", "Second, wrong.", "Second.")
	m["verifier"] = say("Verdict: insufficient\nMissing: the total.", "Verdict: insufficient\nMissing: step 2 is wrong.", sufficient)
	m["router"] = say("Add Step", "Step 2")
	s := ask(t, dataFolder(t, numbers), m.serve(t).URL)
	s.expect(exitVerified, "step 2 is wrong")
	tr := s.trajectory()
	if a, _ := tr.Rounds[2].Accepted(); a.Execution.Stdout() != "42 False True\n" {
		t.Errorf("after going back: %q", a.Execution.Stdout())
	}
	if tr.Steps() != 2 || tr.Answer() != "42" {
		t.Errorf("%d steps, answer %q", tr.Steps(), tr.Answer())
	}
	if _, err := os.Stat(filepath.Join(s.out, "files", "note.txt")); err == nil {
		t.Error("the dropped step's file is still there")
	}
}

// TestCellsThatEnd: a cell that kills its kernel and one that takes too long are repaired like any
// other that fails, and the record says how they ended.
func TestCellsThatEnd(t *testing.T) {
	t.Parallel()
	m := counting()
	// The pause is for ZeroMQ's own thread, which SIGKILL would end with the line unsent.
	m["coder"] = say(cell("import os, signal, time\nprint('before', flush=True)\ntime.sleep(0.3)\nos.kill(os.getpid(), signal.SIGKILL)"))
	m["debugger"] = say(cell("import time\ntime.sleep(60)"), cell("total = 42\nprint(total)"))
	s := ask(t, dataFolder(t, numbers), m.serve(t).URL, "--cell-timeout", "10s") // the set-up cell must fit, too
	s.expect(exitVerified, "SIGKILL", "time-out")
	if t.Failed() {
		return
	}
	attempts := s.trajectory().Rounds[0].Attempts
	if first := attempts[0].Execution; first.Status != notebook.Died || !strings.Contains(first.PlainText(), "before") {
		t.Errorf("the cell that died: %+v", first)
	}
	if second := attempts[1].Execution; second.Status != notebook.TimedOut {
		t.Errorf("the cell that took too long: %+v", second)
	}
}

// TestEndpointFaults: what an endpoint does wrong is retried or ends the run with its own exit code.
func TestEndpointFaults(t *testing.T) {
	t.Parallel()
	m := counting()
	for _, test := range []struct {
		name  string
		model func(llmtest.Request) llmtest.Response
		code  int
		said  []string
	}{
		{"refused", func(llmtest.Request) llmtest.Response {
			return llmtest.Refuse(401, "invalid_api_key", "Incorrect API key")
		}, exitCredentials, []string{"the key", "Incorrect API key"}},
		{"busy at first", func(r llmtest.Request) llmtest.Response {
			if r.N == 1 {
				return llmtest.Response{Status: 429, Header: map[string]string{"Retry-After": "1"}}
			}
			return m[roleOf(t, r)][0]
		}, exitVerified, []string{"retry", "429", "again in 1 s"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := ask(t, dataFolder(t, numbers), llmtest.New(t, test.model).URL)
			s.expect(test.code, test.said...)
			if tr := s.trajectory(); (test.code == exitVerified) != (tr.Failure == "") {
				t.Errorf("the notebook says of the run's end: %q", tr.Failure)
			}
			if test.code != exitVerified && s.stdout != "" {
				t.Errorf("stdout: %q", s.stdout)
			}
		})
	}
}

// TestDescriptionsDoNotMeet: what one file's script changes in its session does
// not show in another file's description.
func TestDescriptionsDoNotMeet(t *testing.T) {
	t.Parallel()
	d := newDescribing(t, map[string]string{"a.csv": table("a"), "b.csv": table("b"), "c.csv": table("c")})
	d.url = roles{"analyzer": say(cell(`import os, pandas as pd
print(pd.get_option("display.max_rows"), os.path.basename(os.getcwd()), os.listdir("."), "LEFT" in os.environ)
pd.set_option("display.max_rows", 7)
os.environ["LEFT"] = "1"
open("left.txt", "w").close()
os.chdir("/")`))}.serve(t).URL
	d.run("describe", d.data, "--json", "--jobs", "1", "--no-families").expect(exitVerified)
	for _, f := range d.decode().Files {
		if f.Description != "60 files ['data'] False" {
			t.Errorf("%s: %q", f.Name, f.Description)
		}
	}
}
