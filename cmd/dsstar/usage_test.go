package main

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"dsstar/agent/describe"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
)

// An address in the place of the data folder is named as what it is, and its password is not repeated (U11).
func TestDataIsAddress(t *testing.T) {
	for _, address := range []string{"postgres://u:hunter2@host/db", "postgresql+psycopg://u:hunter2@ss@host:5432/db", "s3://bucket/x?sig=hunter2", "HTTPS://host/?token=hunter2"} {
		a, stdout, stderr := testApp(t)
		code := a.run(t.Context(), []string{"nb", "--data", address, "q"})
		if said := stdout.String() + stderr.String(); code != exitUsage || !strings.Contains(said, "only folders of this machine are read") || strings.Contains(said, "hunter2") {
			t.Errorf("%s: exit code %d: %s", address, code, said)
		}
	}
	a, _, stderr := testApp(t)
	a.report(usage.New("cannot open mysql://u:hunter2@host/db", usage.Again("--server", "http://u:hunter2@host/?token=hunter2")))
	if strings.Contains(stderr.String(), "hunter2") || !strings.Contains(stderr.String(), "host/db") {
		t.Errorf("%s", stderr)
	}
}

// closedPipe is standard output whose reader has gone.
type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: os.Stdout.Name(), Err: syscall.EPIPE}
}

// Who reads only the beginning of what is printed gets no error (U15).
func TestClosedPipe(t *testing.T) {
	a, _, stderr := testApp(t)
	a.stdout = closedPipe{}
	if code := a.run(t.Context(), []string{"completion", "bash"}); code != exitError || stderr.Len() > 0 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// Ctrl-C is no error (U15).
func TestPlainWords(t *testing.T) {
	a, _, stderr := testApp(t)
	if code := a.report(&stoppedError{err: errInterrupted, notebook: "n", run: "r"}); code != exitInterrupted || !strings.HasPrefix(stderr.String(), "dsstar: interrupted") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	stderr.Reset()
	if a.report(errors.New("bad")); !strings.HasPrefix(stderr.String(), "dsstar: error: bad") {
		t.Errorf("%s", stderr)
	}
}

// TestPriceHints: where nobody can be asked about a price, the hint goes on from there.
func TestPriceHints(t *testing.T) {
	a, _, _ := testApp(t)
	a.stdinTTY = false
	j := job{settings: &configs.Settings{AskAboveTokens: 1000}, progress: a.newProgress(true)}
	err := a.afford(j)(t.Context(), describe.Estimate{Files: 2, Calls: 2, InputTokens: 2000})
	for _, c := range []struct {
		err  error
		hint string
	}{
		{err, "dsstar describe --ask-above-tokens 0 DIR"},
		{&stoppedError{err: err, notebook: "n", run: "RUN", with: []usage.Flag{{Name: "model", Value: "m"}}}, "dsstar resume --ask-above-tokens 0 --model m RUN "},
	} {
		code, text, hints := explain(c.err, usage.Line{Command: "dsstar describe", Args: []string{"DIR"}})
		if code != exitUsage || strings.Contains(text, "--yes") || len(hints) != 1 || !strings.HasPrefix(hints[0], c.hint) {
			t.Errorf("%d, %q, %q", code, text, hints)
		}
	}
}

// TestInclude: a name that the data folder lacks is an error of the flag, not of a setting for all projects.
func TestInclude(t *testing.T) {
	data := dataFolder(t, numbers)
	for _, given := range []bool{true, false} {
		_, err := newTask(t.Context(), "q", "", data, []string{"venv"}, given)
		if bad, is := errors.AsType[*usage.Error](err); is != given || is && !strings.Contains(bad.Text, "--include: venv") || !is && err != nil {
			t.Errorf("given as a flag: %v: %v", given, err)
		}
	}
}

// TestRunsInLink: a link that came with a project does not lead runs elsewhere; one that the user names does.
func TestRunsInLink(t *testing.T) {
	elsewhere, project := t.TempDir(), t.TempDir()
	t.Chdir(project)
	if err := os.Symlink(elsewhere, "link"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ project, user, refused string }{
		{"out: link", "", "link"}, {"out: link/runs", "", "link"}, {"out: runs", "", ""}, {"", "link", ""},
	} {
		if err := os.WriteFile("dsstar.yaml", []byte(c.project+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		from := configs.Sources{ProjectFile: "dsstar.yaml"}
		if c.user != "" {
			from.Env = []string{"DSSTAR_OUT=" + c.user}
		}
		s, err := configs.Load(from)
		if err != nil {
			t.Fatal(err)
		}
		_, err = job{settings: s}.folder()
		if bad, is := errors.AsType[*usage.Error](err); is != (c.refused != "") || is && !strings.Contains(bad.Text, c.refused+" is a symbolic link") || !is && err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
