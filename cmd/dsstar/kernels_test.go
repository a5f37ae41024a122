package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/cmd/dsstar/internal/kernels/kernelstest"
	"dsstar/kernel/kerneltest"
	"dsstar/kernel/pyenv/pyenvtest"
)

// listKernels runs the command, which must do well.
func listKernels(t *testing.T, env []string, args ...string) string {
	t.Helper()
	a, stdout, stderr := testApp(t, env...)
	if code := a.run(t.Context(), append([]string{"kernels"}, args...)); code != 0 || stderr.Len() > 0 {
		t.Fatalf("exit code %d, stderr %s", code, stderr)
	}
	return stdout.String()
}

func kernelsJSON(t *testing.T, env []string, args ...string) (l listing) {
	t.Helper()
	if err := json.Unmarshal([]byte(listKernels(t, env, append(args, "--json")...)), &l); err != nil {
		t.Fatal(err)
	}
	return l
}

// TestKernels lists a local kernel, one of a real server, its kernelspecs, and
// servers that are gone.
func TestKernels(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	server := kerneltest.JupyterServer(t, pyenvtest.Tools(t), nil)
	var session struct{ Kernel struct{ ID string } }
	server.Call(t, "POST", "/api/sessions", map[string]any{"path": "analysis.ipynb", "name": "", "type": "notebook",
		"kernel": map[string]string{"name": "python3"}}, &session)
	id := session.Kernel.ID
	file := filepath.Join(server.RuntimeDir, "kernel-"+id+".json")
	kernelstest.Start(t, server.RuntimeDir, "0123abcd-user")
	done := make(chan string, 1)
	state := func(want string) {
		waitFor(t, "the server says "+want, func() bool {
			var k struct {
				State string `json:"execution_state"`
			}
			server.Call(t, "GET", "/api/kernels/"+id, nil, &k)
			return k.State == want
		})
	}
	kernelstest.Run(t, file, "import time")
	state("idle")
	go func() { done <- kernelstest.Run(t, file, "time.sleep(8)") }()
	state("busy")

	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	for pid, port := range map[int]int{gone.Process.Pid: 2, os.Getpid(): 1} { // left by one that was killed; of one that is deaf
		text := fmt.Sprintf(`{"url": "http://127.0.0.1:%d/", "token": "stale-token", "pid": %d, "root_dir": "/x"}`, port, pid)
		if err := os.WriteFile(filepath.Join(server.RuntimeDir, fmt.Sprintf("jpserver-%d.json", pid)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := kernelstest.Env(t, server.RuntimeDir)
	out := listKernels(t, env)
	for _, want := range []string{id[:8] + "  busy", "0123abcd  idle", "analysis.ipynb", server.Root, server.URL + "/", "cannot be reached", "python3"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not listed:\n%s", want, out)
		}
	}
	t.Logf("\n%s", out)
	if strings.Contains(out, "127.0.0.1:2/") {
		t.Errorf("the server that was killed is listed:\n%s", out)
	}
	<-done
	text := listKernels(t, env, "--json")
	l := kernelsJSON(t, env)
	if len(l.Kernels) != 2 || len(l.Servers) != 2 || len(l.Kernelspecs) != 1 || l.Kernelspecs[0].Server != server.URL+"/" {
		t.Fatalf("%s", text)
	}
	for _, k := range l.Kernels {
		if k.State != "idle" || k.Name != k.ID[:8] || k.PID == 0 || k.Dir == "" || !strings.Contains(k.Python, "python") || k.ConnectionFile == "" || k.Since == nil {
			t.Errorf("%+v", k)
		}
		if k.ID == id && (k.Notebook != "analysis.ipynb" || k.Server != server.URL+"/" || k.Kernelspec != "python3") {
			t.Errorf("%+v", k)
		}
	}
	// The same from elsewhere, with the token of the environment.
	far := append(kernelstest.Env(t, t.TempDir()), "JUPYTER_URL="+server.URL, "JUPYTER_TOKEN="+server.Token)
	if l := kernelsJSON(t, far); len(l.Kernels) != 1 || l.Kernels[0].ID != id || l.Servers[0].Error != "" {
		t.Errorf("%+v", l)
	}
	wrong := listKernels(t, append(far, "JUPYTER_TOKEN=wrong"), "--server", silentServer(t))
	for _, want := range []string{"403", "does not answer", "No kernel is running."} {
		if !strings.Contains(wrong, want) {
			t.Errorf("%q is not said:\n%s", want, wrong)
		}
	}
	for _, all := range []string{out, text, wrong} {
		if strings.Contains(all, server.Token) || strings.Contains(all, "stale-token") {
			t.Errorf("a token is in:\n%s", all)
		}
	}
}
