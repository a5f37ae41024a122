package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
)

// TestGoingBack is promise 4 on a real kernel: a dropped step's in-place
// changes, files and use of random numbers leave no trace.
func TestGoingBack(t *testing.T) {
	t.Parallel()
	s := finishedRun(t)
	s.expect(exitVerified, "step 2 is wrong")
	tr := s.trajectory()
	if a, _ := tr.Rounds[2].Accepted(); !strings.HasPrefix(a.Execution.Stdout(), "42 False True ") {
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
	pyenvtest.Long(t)
	t.Parallel()
	m := counting()
	// The pause is for ZeroMQ's own thread, which SIGKILL would end with the line unsent.
	m["coder"] = say(cell("import os, signal, time\nprint('before', flush=True)\ntime.sleep(0.3)\nos.kill(os.getpid(), signal.SIGKILL)"))
	m["debugger"] = say(cell("import time\ntime.sleep(60)"), cell("total = 42\nprint(total)"))
	s := askNB(t, dataFolder(t, numbers), m.serve(t).URL, "--cell-timeout", "10s") // the set-up cell must fit, too
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
