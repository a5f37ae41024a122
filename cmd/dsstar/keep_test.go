//go:build unix

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/kernels/kernelstest"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/kernel/kerneltest"
	"dsstar/kernel/pyenv/pyenvtest"
)

// keeping runs nb with --keep-kernel and --json and returns the kernel that stays.
func keepingKernel(t *testing.T, env []string, out string, m roles, args ...string) (*scene, *resultKept) {
	t.Helper()
	s := &scene{t: t, data: dataFolder(t, numbers), out: out}
	a, stdout, stderr := testApp(t, env...)
	args = append([]string{"nb", "--keep-kernel", "--json", "--data", s.data, "--out", s.out, "--base-url", m.serve(t).URL, "--model", "scripted"}, args...)
	s.code = a.run(t.Context(), append(args, "What is the total?"))
	s.stdout, s.stderr = stdout.String(), stderr.String()
	if s.stdout == "" {
		return s, nil
	}
	kept := decodeResult(t, s.stdout).KeptKernel
	if kept != nil && kept.PID != 0 {
		t.Cleanup(func() { _ = syscall.Kill(kept.PID, syscall.SIGKILL) })
	}
	return s, kept
}

// TestKeepKernel: without a server a process stays that can be found, connected to
// and killed, with the state of the accepted cells.
func TestKeepKernel(t *testing.T) {
	t.Parallel()
	runtime := t.TempDir()
	env := kernelstest.Env(t, runtime)
	s, kept := keepingKernel(t, env, filepath.Join(t.TempDir(), "run"), failing(), "--python", pyenvtest.Python(t), "--sandbox", "off")
	s.expect(exitVerified, "try 1 failed", "verified", "stays, with all variables", "jupyter console --existing "+runtime, "kill ")
	if kept == nil {
		t.Fatal(s.stdout)
	}
	if kept.Server != "" || kept.Notebook != "" || kept.ConnectionFile != filepath.Join(runtime, "kernel-"+kept.ID+".json") {
		t.Errorf("%+v", kept)
	}
	where := kernelstest.Run(t, kept.ConnectionFile, "import os; print(total, 'half' in globals(), os.getcwd(), os.path.exists('data/numbers.csv'))")
	if want := "42 False " + filepath.Join(s.out, "files") + " True\n"; where != want {
		t.Errorf("%q, want %q", where, want)
	}
	// It is a running kernel like any other, by the name of the notebook too.
	a, stdout, _ := testApp(t, env...)
	if a.run(t.Context(), []string{"kernels"}); !strings.Contains(stdout.String(), kept.ID[:8]) || !strings.Contains(stdout.String(), "notebook.ipynb") {
		t.Error(stdout.String())
	}
	attached(t, env, "http://127.0.0.1:1/v1", "--kernel", kept.ID[:8], "--keep-kernel").expect(exitUsage, "keeps running anyway", "dsstar: hint: dsstar nb --yes")
	if all, _ := os.ReadDir(runtime); len(all) != 1 {
		t.Errorf("left in the runtime folder: %v", all)
	}
}

// TestKeepKernelFailing: a run that ends half-way leaves its kernel too, if it was ready.
func TestKeepKernelFailing(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	runtime := t.TempDir()
	m := counting()
	m["verifier"] = nil // is refused
	s, kept := keepingKernel(t, kernelstest.Env(t, runtime), filepath.Join(t.TempDir(), "run"), m, "--python", pyenvtest.Python(t))
	s.expect(exitError, "stays, with its variables as they were when the run ended", "kill ")
	if kept == nil {
		t.Fatal(s.stdout)
	}
	if got := kernelstest.Run(t, kept.ConnectionFile, "print(total)"); got != "42\n" {
		t.Error(got)
	}
	if s, kept = keepingKernel(t, kernelstest.Env(t, t.TempDir()), filepath.Join(t.TempDir(), "run"), counting(), "--python", "/usr/bin/false"); kept != nil || s.code == 0 {
		t.Errorf("%+v", kept)
	}
}

// TestKeepKernelOnServer: a kernel of a server stays, as that of the notebook.
func TestKeepKernelOnServer(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	server := kerneltest.JupyterServer(t, pyenvtest.Tools(t), nil)
	elsewhere, local := kernelstest.Env(t, t.TempDir()), kernelstest.Env(t, server.RuntimeDir)
	for name, c := range map[string]struct {
		env  []string
		args []string
	}{
		"named":                {elsewhere, []string{"--server", server.URL + "/?token=" + server.Token}}, // its folder is not known
		"has the run's folder": {local, nil},
	} {
		path := filepath.Join("runs", strings.Fields(name)[0])
		s, kept := keepingKernel(t, c.env, filepath.Join(server.Root, path), failing(), append(c.args, "--yes")...)
		s.expect(exitVerified, "stays on "+server.URL+"/, with all variables", "open "+path+"/notebook.ipynb in JupyterLab", "Shut Down")
		s.without(server.Token)
		if kept == nil || kept.Notebook != path+"/notebook.ipynb" {
			t.Fatalf("%s: %+v", name, kept)
		}
		var sessions []struct {
			Path, Type string
			Kernel     struct{ ID string }
		}
		server.Call(t, "GET", "/api/sessions", nil, &sessions)
		found := false
		for _, session := range sessions {
			found = found || session.Path == kept.Notebook && session.Kernel.ID == kept.ID && session.Type == "notebook"
		}
		if !found {
			t.Errorf("%s: %+v", name, sessions)
		}
		k, err := kernel.Dial(t.Context(), kernel.Server{URL: server.URL + "/", Token: server.Token}, kept.ID, kernel.Options{Discard: true})
		if err != nil {
			t.Fatal(err)
		}
		defer k.Close()
		if e, err := k.Execute(t.Context(), "print(total, 'half' in globals())"); err != nil || e.Stdout() != "42 False\n" {
			t.Errorf("%s: %v %s", name, err, e.PlainText())
		}
	}
	settings, err := configs.Load(configs.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	a, _, stderr := testApp(t, local...)
	j := &job{runFlags: runFlags{keep: true, out: filepath.Join(server.Root, "runs", "unasked")}, settings: settings, progress: a.newProgress(false)}
	used := a.placeToKeep(t.Context(), j)
	j.progress.Stop()
	if used || j.place.Server.URL != "" || !strings.Contains(stderr.String(), "cannot be used: its kernels are not sandboxed") {
		t.Errorf("a server's kernel is used without consent: %s", stderr)
	}
	var kernels []struct{ ID string }
	if server.Call(t, "GET", "/api/kernels", nil, &kernels); len(kernels) != 2 {
		t.Errorf("%d kernels, want the two that stay", len(kernels))
	}
	// A run elsewhere does not use it.
	s, kept := keepingKernel(t, local, filepath.Join(t.TempDir(), "run"), counting())
	if s.expect(exitVerified); kept == nil || kept.Server != "" {
		t.Errorf("%+v", kept)
	}
	// A server whose Python cannot run cells is told of, and not used.
	other := kerneltest.JupyterServer(t, pyenvtest.Tools(t), map[string]map[string]any{"python3": {"argv": []string{"R"}, "language": "R"}})
	s, kept = keepingKernel(t, kernelstest.Env(t, other.RuntimeDir), filepath.Join(other.Root, "run"), counting())
	if s.expect(exitVerified, "cannot be used", "a kernel for R"); kept == nil || kept.Server != "" {
		t.Errorf("%+v", kept)
	}
}

// TestKeepHanging: a server that does not answer any more delays the end of a run
// for a while only, and the user learns how to connect all the same.
func TestKeepHanging(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer server.Close()
	folder, err := record.CreateFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	saver := newSaver(folder)
	if _, err := saver.save(&record.Trajectory{}); err != nil {
		t.Fatal(err)
	}
	k := &keeper{
		saver: saver, server: kernel.Server{URL: server.URL + "/"}, patience: 100 * time.Millisecond,
		info: kernel.Info{ID: "0123", Server: server.URL + "/"},
	}
	r, err := k.result(t.Context())
	if err == nil || r == nil || r.Notebook != "" {
		t.Errorf("%+v %v", r, err)
	}
	a, _, stderr := testApp(t)
	p := a.newProgress(false)
	k.tell(p, r, err, nil)
	p.Stop()
	if !strings.Contains(stderr.String(), "0123 stays on "+server.URL) || !strings.Contains(stderr.String(), "Change Kernel") {
		t.Error(stderr)
	}
}

// TestKeepInterrupted: after Ctrl-C during a cell the kernel is there, idle, and
// told of.
func TestKeepInterrupted(t *testing.T) {
	pyenvtest.Long(t)
	runtime := t.TempDir()
	t.Setenv("JUPYTER_RUNTIME_DIR", runtime)
	m := counting()
	m["coder"] = say(cell("seen = 7\nopen('started', 'w').close()\nimport time; time.sleep(600)"))
	out := filepath.Join(t.TempDir(), "run")
	cmd, mark, stderr := program(t, "nb", "--keep-kernel", "--data", dataFolder(t, numbers), "--out", out, "--base-url", m.serve(t).URL,
		"--model", "scripted", "--python", pyenvtest.Python(t), "What is the total?")
	waitFor(t, "the cell's start", func() bool {
		_, err := os.Stat(filepath.Join(out, "files", "started"))
		return err == nil
	})
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := exitCode(t, cmd); code != exitInterrupted || !strings.Contains(stderr.String(), "stays, with its variables as they were") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	files, _ := filepath.Glob(filepath.Join(runtime, "kernel-*.json"))
	if len(files) != 1 {
		t.Fatal(files)
	}
	if got := kernelstest.Run(t, files[0], "print(seen)"); got != "7\n" {
		t.Fatal(got)
	}
	var pid int // as the user is told: in the sandbox the kernel's own number may be another
	_, told, _ := strings.Cut(stderr.String(), "kill ")
	if _, err := fmt.Sscan(told, &pid); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	noProcess(t, mark)
}
