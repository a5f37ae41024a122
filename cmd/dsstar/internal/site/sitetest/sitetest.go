// Package sitetest starts kernels as a user does, for tests.
package sitetest

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"dsstar/kernel"
	"dsstar/kernel/pyenv/pyenvtest"
)

// Env returns an environment in which dsstar finds the kernels and servers of a runtime folder, and
// no others.
func Env(t testing.TB, runtime string) []string {
	return []string{"JUPYTER_RUNTIME_DIR=" + runtime, "JUPYTER_DATA_DIR=" + t.TempDir(),
		"JUPYTER_PATH=", "VIRTUAL_ENV=", "CONDA_PREFIX=",
		"JUPYTER_URL=", "JUPYTER_TOKEN=", "JUPYTERHUB_API_TOKEN="}
}

// Start starts a kernel as Jupyter does, with its connection file in the runtime folder, and
// returns the file.
func Start(t testing.TB, runtime, id string) (file string) {
	t.Helper()
	file = filepath.Join(runtime, "kernel-"+id+".json")
	cmd := exec.Command(pyenvtest.Python(t), "-m", "ipykernel_launcher", "-f", file)
	cmd.Dir = t.TempDir()
	var said bytes.Buffer
	cmd.Stderr = &said
	pyenvtest.OK(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		if err := cmd.Wait(); err == nil || err.Error() != "signal: killed" {
			t.Errorf("the user's kernel has ended: %v\n%s", err, said.String())
		}
	})
	Run(t, file, "pass")
	return file
}

// Run runs code as the user does, in a kernel that may still be starting, and returns what the code
// prints.
func Run(t testing.TB, file, code string) string {
	t.Helper()
	begun := time.Now()
	k, err := kernel.Attach(t.Context(), file, kernel.Options{})
	for err != nil && time.Since(begun) < 60*time.Second {
		time.Sleep(50 * time.Millisecond)
		k, err = kernel.Attach(t.Context(), file, kernel.Options{})
	}
	pyenvtest.OK(t, err)
	defer k.Close()
	e, err := k.Execute(t.Context(), code)
	if err != nil || e.Status != "ok" {
		t.Fatalf("%s: %v\n%s", code, err, e.PlainText())
	}
	// A guest's changes to names are undone at the end unless kept; a user's must stay.
	if kept, err := k.Execute(t.Context(),
		k.Visit()+".keep.update("+k.Visit()+".rebound())"); err != nil || kept.Status != "ok" {
		t.Fatalf("%v\n%s", err, kept.PlainText())
	}
	return e.Stdout()
}
