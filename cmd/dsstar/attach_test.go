package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dsstar/cmd/dsstar/internal/kernels"
	"dsstar/cmd/dsstar/internal/kernels/kernelstest"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel/kerneltest"
	"dsstar/kernel/pyenv/pyenvtest"
)

// attached runs nb with the model behind url in an environment.
func attached(t *testing.T, env []string, url string, args ...string) *scene {
	t.Helper()
	s := &scene{t: t, data: dataFolder(t, numbers), out: filepath.Join(t.TempDir(), "run")}
	a, stdout, stderr := testApp(t, env...)
	args = append([]string{"nb", "--data", s.data, "--out", s.out, "--base-url", url, "--model", "scripted"}, args...)
	s.code = a.run(t.Context(), append(args, "What is the total?"))
	s.stdout, s.stderr = stdout.String(), stderr.String()
	return s
}

// without checks that a secret is neither in what was printed nor in what the run left.
func (s *scene) without(secret string) {
	s.t.Helper()
	for name, text := range map[string]string{"stdout": s.stdout, "stderr": s.stderr} {
		if strings.Contains(text, secret) {
			s.t.Errorf("the token is in %s:\n%s", name, text)
		}
	}
	err := filepath.WalkDir(s.out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(secret)) {
			s.t.Errorf("the token is in %s", path)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.t.Error(err)
	}
}

// failing is counting with a first cell that fails, so that the session goes back.
func failing() roles {
	m := counting()
	m["debugger"] = m["coder"]
	m["coder"] = say(cell("numbers = [0]\nhalf = 1\nraise ValueError('no')"))
	return m
}

// TestAttach: a run in the user's kernel asks first, finds its answer, goes back,
// and leaves the user's own names as they were.
func TestAttach(t *testing.T) {
	t.Parallel()
	runtime := t.TempDir()
	file := kernelstest.Start(t, runtime, "0123abcd-user")
	env := kernelstest.Env(t, runtime)
	kernelstest.Run(t, file, "import os\nbase_dir = '/user'; numbers = 'mine'; kept = [1]; home = os.getcwd()")
	model := failing().serve(t)

	s := attached(t, env, model.URL, "--kernel", "0123abcd")
	s.expect(exitUsage, "0123abcd: ", "not restarted or shut down", "unsandboxed", "dsstar: hint: dsstar nb --yes", "--kernel 0123abcd", "'What is the total?'")
	if _, err := os.Stat(s.out); err == nil || len(model.Requests()) > 0 {
		t.Error("something was begun without consent")
	}
	s = attached(t, env, model.URL, "--kernel", "0123", "--yes", "--json")
	s.expect(exitVerified, "not restarted or shut down", "try 1 failed", "back at the accepted cells", "verified")
	r := decodeResult(t, s.stdout)
	if want := (resultKernel{"0123abcd", false, "none (attached)", "names"}); r.Kernel != want || r.Answer != "42" {
		t.Errorf("%+v", r)
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "not the run's own, 0123abcd") || !slices.Equal(s.trajectory().Warnings, r.Warnings) {
		t.Errorf("warnings %q", r.Warnings)
	}
	if got := kernelstest.Run(t, file, "print(base_dir, numbers, kept, home == os.getcwd(), 'total' in globals(), 'half' in globals())"); got != "/user mine [1] True False False\n" {
		t.Errorf("the user's names: %s", got)
	}
}

// TestAttachAsks: on a terminal the user is asked, and may say no.
func TestAttachAsks(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	runtime := t.TempDir()
	kernelstest.Start(t, runtime, "0123abcd-user")
	for answer, code := range map[string]int{"\n": exitError, "y\n": exitVerified} {
		model := counting().serve(t)
		a, _, stderr := testApp(t, kernelstest.Env(t, runtime)...)
		a.stdin, a.stdinTTY, a.stderrTTY = strings.NewReader(answer), true, true
		got := a.run(t.Context(), []string{"nb", "--data", dataFolder(t, numbers), "--out", filepath.Join(t.TempDir(), "run"), "--base-url", model.URL,
			"--model", "scripted", "--kernel", "newest", "What is the total?"})
		if got != code || !strings.Contains(stderr.String(), "[y/N]") || code == exitError && len(model.Requests()) > 0 {
			t.Errorf("answer %q: exit code %d, %s", answer, got, stderr)
		}
	}
	// Ctrl-C is an answer too.
	a, _, stderr := testApp(t, kernelstest.Env(t, runtime)...)
	in, w := io.Pipe()
	defer w.Close()
	a.stdin, a.stdinTTY, a.stderrTTY = in, true, true
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	got := a.run(ctx, []string{"nb", "--data", dataFolder(t, numbers), "--base-url", "http://127.0.0.1:1/v1", "--model", "m", "--kernel", "newest", "q"})
	if got != exitInterrupted {
		t.Errorf("exit code %d: %s", got, stderr)
	}
}

// TestAttachBusy: the run waits for a busy kernel and disturbs nobody.
func TestAttachBusy(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	runtime := t.TempDir()
	file := kernelstest.Start(t, runtime, "0123abcd-user")
	done := make(chan string, 1)
	go func() { done <- kernelstest.Run(t, file, "import time; time.sleep(3); print('undisturbed')") }()
	time.Sleep(500 * time.Millisecond)
	s := attached(t, kernelstest.Env(t, runtime), counting().serve(t).URL, "--kernel", "0123", "--yes")
	s.expect(exitVerified, "It is busy: the run waits")
	kernelstest.Run(t, file, "print('it lives')")
	if got := <-done; got != "undisturbed\n" {
		t.Error(got)
	}
}

func TestKernelNames(t *testing.T) {
	t.Parallel()
	runtime := t.TempDir()
	kernelstest.Start(t, runtime, "0123abcd-1")
	kernelstest.Start(t, runtime, "0123abcd-2")
	env := kernelstest.Env(t, runtime)
	spec := filepath.Join(strings.TrimPrefix(env[1], "JUPYTER_DATA_DIR="), "kernels", "0123abcd-1")
	if err := os.MkdirAll(spec, 0o755); err != nil {
		t.Fatal(err)
	}
	kernelJSON := `{"argv": ["/opt/python", "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "Both", "language": "python"}`
	if err := os.WriteFile(filepath.Join(spec, "kernel.json"), []byte(kernelJSON), 0o644); err != nil {
		t.Fatal(err)
	}
	url := "http://127.0.0.1:1/v1"
	attached(t, env, url, "--kernel", "0123").expect(exitUsage, "ambiguous", "--kernel 0123abcd-2 ", "running: ")
	attached(t, env, url, "--kernel", "0123abcd-1").expect(exitUsage, "ambiguous", "--python /opt/python", "kernel-0123abcd-1.json")
	attached(t, env, url, "--kernel", "nosuch").expect(exitUsage, `running kernel is named "nosuch"`, "kernelspec: Both", "running: ", "dsstar: hint: dsstar kernels")
	file := filepath.Join(runtime, "kernel-0123abcd-2.json")
	outside := filepath.Join(t.TempDir(), "mine.json") // not in Jupyter's folder
	if err := os.Link(file, outside); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"0123abcd-2": file, file: file, outside: outside, "newest": ""} {
		p, err := choose(t, env, name)
		if err != nil || p.Guest == nil || want != "" && p.Guest.File != want {
			t.Errorf("%s: %v %+v", name, err, p.Guest)
		}
	}
	attached(t, env, url, "--kernel", "0123", "--python", "python3").expect(exitUsage, "--python cannot be combined with")
}

// TestServer runs in kernels of a real server and in one that it has already.
func TestServer(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	server := kerneltest.JupyterServer(t, pyenvtest.Tools(t), nil)
	elsewhere := kernelstest.Env(t, t.TempDir()) // the server's files are not to be found
	token := append(slices.Clone(elsewhere), "JUPYTER_TOKEN="+server.Token)
	running := func() (ids []string) {
		var list []struct{ ID string }
		server.Call(t, "GET", "/api/kernels", nil, &list)
		for _, k := range list {
			ids = append(ids, k.ID)
		}
		return ids
	}

	t.Run("own", func(t *testing.T) {
		m := failing()
		m["debugger"] = say(strings.Replace(m["debugger"][0].Text, "print(total)", "for i in range(5000): print(i, flush=True)", 1))
		s := attached(t, elsewhere, m.serve(t).URL, "--server", server.URL+"/lab?token="+server.Token, "--json", "--yes")
		s.expect(exitVerified, "verified")
		s.without(server.Token)
		r := decodeResult(t, s.stdout)
		if r.Kernel != (resultKernel{"Python 3", true, "none (of a server)", "replay"}) || r.Answer != "42" {
			t.Errorf("%+v", r)
		}
		// That is above the server's limit, but on a machine that is too slow for it.
		e := s.trajectory().Rounds[0].Attempts[1].Execution
		whole := strings.Count(e.Stdout(), "\n") >= 5000
		if told := len(r.Warnings) == 1 && strings.Contains(r.Warnings[0], "outputs of a cell may be missing"); told == whole {
			t.Errorf("warnings %q; all there: %v", r.Warnings, whole)
		}
		if left := running(); len(left) > 0 {
			t.Errorf("kernels %v are left on the server", left)
		}
	})
	t.Run("unasked", func(t *testing.T) {
		s := attached(t, token, "http://127.0.0.1:1/v1", "--server", server.URL)
		s.expect(exitUsage, "unsandboxed", "its kernels are not in dsstar's sandbox", "dsstar: hint: dsstar nb --yes")
		a, _, stderr := testApp(t, token...)
		code := a.run(t.Context(), []string{"describe", s.data, "--base-url", "http://127.0.0.1:1/v1", "--model", "scripted", "--server", server.URL})
		if code != exitUsage || !strings.Contains(stderr.String(), "dsstar: hint: dsstar describe --yes") {
			t.Errorf("exit code %d: %s", code, stderr)
		}
		if left := running(); len(left) > 0 {
			t.Errorf("kernels %v were started", left)
		}
		if _, err := os.Stat(s.out); err == nil {
			t.Error("a run was begun")
		}
	})
	t.Run("kernelspec", func(t *testing.T) {
		p, err := choose(t, append(token, "DSSTAR_SERVER="+server.URL), "PYTHON3")
		if err != nil || p.Guest != nil || p.Spec.Name != "python3" || p.Server.Token != server.Token {
			t.Errorf("%v %+v", err, p)
		}
	})
	t.Run("guest", func(t *testing.T) {
		var session struct{ Kernel struct{ ID string } }
		server.Call(t, "POST", "/api/sessions", map[string]any{"path": "work/analysis.ipynb", "name": "", "type": "notebook",
			"kernel": map[string]string{"name": "python3"}}, &session)
		id := session.Kernel.ID
		file := filepath.Join(server.RuntimeDir, "kernel-"+id+".json")
		kernelstest.Run(t, file, "base_dir = '/user'; numbers = 'mine'")
		local := kernelstest.Env(t, server.RuntimeDir)
		for name, run := range map[string]struct {
			env  []string
			args []string
		}{
			"by JUPYTER_URL":   {append(slices.Clone(token), "JUPYTER_URL="+server.URL), []string{"--kernel", "analysis.ipynb"}},
			"server and files": {local, []string{"--server", strings.Replace(server.URL, "127.0.0.1", "localhost", 1), "--kernel", "newest"}},
		} {
			s := attached(t, run.env, failing().serve(t).URL, append(run.args, "--yes")...)
			s.expect(exitVerified, id[:8]+": python3, work/analysis.ipynb", "verified")
			s.without(server.Token)
			if got := kernelstest.Run(t, file, "print(base_dir, numbers)"); got != "/user mine\n" {
				t.Errorf("%s: the user's names: %s", name, got)
			}
			if left := running(); !slices.Equal(left, []string{id}) {
				t.Errorf("%s: kernels %v, want only %s", name, left, id)
			}
		}
		s := attached(t, elsewhere, "http://127.0.0.1:1/v1", "--server", server.URL+"/?token="+server.Token, "--kernel", id)
		s.expect(exitUsage, "is dropped", "--yes", "--server "+server.URL+"/ ")
		s.without(server.Token)
	})
	t.Run("refused", func(t *testing.T) {
		for _, env := range []string{"JUPYTER_TOKEN=wrong", "JUPYTER_TOKEN="} {
			s := attached(t, append(slices.Clone(elsewhere), env), "http://127.0.0.1:1/v1", "--server", server.URL)
			s.expect(exitCredentials, server.URL, "export JUPYTER_TOKEN=TOKEN", "jupyter server list")
		}
		attached(t, token, "http://127.0.0.1:1/v1", "--server", server.URL, "--kernel", "nosuch").
			expect(exitUsage, `"nosuch"`, "--server "+server.URL+"/ --kernel python3")
		attached(t, token, "http://127.0.0.1:1/v1", "--server", server.URL+"/wrong/").expect(exitError, "404", "jupyter server list")
		attached(t, token, "http://127.0.0.1:1/v1", "--server", "http://127.0.0.1:1/").expect(exitError, "cannot be reached", "dsstar kernels")
		attached(t, token, "http://127.0.0.1:1/v1", "--server", "127.0.0.1/?token=secret").without("secret")
	})
	t.Run("doctor and config", func(t *testing.T) {
		a, stdout, stderr := testApp(t, elsewhere...)
		if a.run(t.Context(), []string{"doctor", "--model", "replay:/dev/null", "--server", server.URL + "?token=" + server.Token}); !strings.Contains(stdout.String(), "kernel   ok") {
			t.Errorf("doctor: %s%s", stdout, stderr)
		}
		a, config, stderr := testApp(t, append(elsewhere, "DSSTAR_SERVER="+server.URL+"?token="+server.Token)...)
		for _, args := range [][]string{{"config"}, {"config", "--json"}} {
			if a.run(t.Context(), args); !strings.Contains(config.String(), "?token=xxxxx") {
				t.Errorf("config: %s%s", config, stderr)
			}
		}
		if all := stdout.String() + config.String() + stderr.String(); strings.Contains(all, server.Token) {
			t.Errorf("the token is in %s", all)
		}
	})
}

// TestKernelsElsewhere: kernels that do not see the folders of this machine are
// refused before a run folder is made.
func TestKernelsElsewhere(t *testing.T) {
	t.Parallel()
	runtime := t.TempDir()
	kernelstest.Start(t, runtime, "0123abcd-user")
	a, _, _ := testApp(t, kernelstest.Env(t, runtime)...)
	s, err := configs.Load(configs.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := choose(t, kernelstest.Env(t, runtime), "newest")
	if err != nil {
		t.Fatal(err)
	}
	err = a.Look(t.Context(), &p, s, "/nosuch/out", t.TempDir())
	if code, text, hints := explain(err, usage.Line{Command: "dsstar nb"}); code != exitUsage || !strings.Contains(text, "does not see /nosuch/out:") || len(hints) == 0 {
		t.Errorf("exit code %d, %s %q", code, text, hints)
	}
}

// choose finds the place of a run with --kernel name.
func choose(t *testing.T, env []string, name string) (kernels.Place, error) {
	t.Helper()
	a, _, _ := testApp(t, env...)
	s, err := configs.Load(configs.Sources{Env: env, Flags: map[string]configs.Flag{"kernel": {Name: "--kernel", Value: name}}})
	if err != nil {
		t.Fatal(err)
	}
	return a.Place(t.Context(), s, func(string) {})
}

// TestHub: what a hub answers for a server that is not running, or to a wrong token.
func TestHub(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex // a survey may still be asking
	var status int
	var asked []string
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.Header.Get("Authorization"))
		w.WriteHeader(status)
	}))
	defer hub.Close()
	env := append(kernelstest.Env(t, t.TempDir()), "JUPYTERHUB_API_TOKEN=hubtoken")
	for code, said := range map[int]string{
		http.StatusForbidden:        hub.URL + "/hub/token makes one",
		http.StatusFailedDependency: hub.URL + "/hub/api/users/ada/servers/gpu",
	} {
		mu.Lock()
		status = code
		mu.Unlock()
		want := exitError
		if code == http.StatusForbidden {
			want = exitCredentials
		}
		attached(t, env, "http://127.0.0.1:1/v1", "--server", hub.URL+"/user/ada/gpu/lab").expect(want, said)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(asked) == 0 || slices.ContainsFunc(asked, func(h string) bool { return h != "token hubtoken" }) {
		t.Errorf("asked with %q", asked)
	}
}

// silentServer listens and never answers.
func silentServer(t *testing.T) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return "http://" + l.Addr().String() + "/"
}
