package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"dsstar/agent/describe"
	"dsstar/agent/describe/profile"
	"dsstar/agent/llm"
	"dsstar/cmd/dsstar/internal/download"
	"dsstar/cmd/dsstar/internal/site"
	"dsstar/cmd/dsstar/internal/site/sitetest"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/kernel/sandbox"
)

// TestExplain checks the exit codes and hints of errors. The sandbox's hints fit the cause.
func TestExplain(t *testing.T) {
	missing := func(tier sandbox.Tier, err error) error {
		return fmt.Errorf("%w: %w", sandbox.ErrNone, &sandbox.MissingError{Tier: tier, Err: err})
	}
	for _, c := range []struct {
		err  error
		code int
		hint string // in the first
		not  string // in any
	}{
		{missing(sandbox.Full, errors.New("why")), exitError, "apparmor_restrict", "lsm"},
		{missing(sandbox.Builtin, sandbox.ErrNoLandlock), exitError, "lsm", "--sandbox builtin"},
		{missing(sandbox.Builtin, errors.New("why")), exitError, "--sandbox external", "--sandbox builtin"},
		{fmt.Errorf("x: %w", sandbox.ErrProcesses), exitError, "ulimit -u", "namespaces"},
		{fmt.Errorf("start kernel: %w", sandbox.ErrUnsearched), exitUsage, "--sandbox builtin", ""},
		{fmt.Errorf("start kernel: %w", sandbox.ErrWritable), exitUsage, "--allow-write out", "--sandbox"},
		{&llm.CredentialError{Provider: "base_url", Unsent: true, Err: &llm.StatusError{Status: 401}},
			exitCredentials, "--api-key-env OPENAI_API_KEY", ""}, // U6
		{fmt.Errorf("x: %w", llm.ErrEmpty), exitError, "dsstar config", ""},
		{&llm.StatusError{Status: 302}, exitError, "dsstar config", "--base-url"},
		{&kernel.ServerError{URL: "http://h/user/ada/gpu/", Status: 403}, exitCredentials, "h/hub/token makes one", ""},
		{&kernel.ServerError{URL: "http://h/user/ada/gpu/", Status: 424}, exitError, "http://h/hub/home", ""},
		{&describe.DatabaseError{Cause: profile.NoLogin}, exitCredentials, "=ADDRESS", ""},
		{&describe.DatabaseError{}, exitError, "=ADDRESS", "password"},
		{&describe.DatabaseError{Cause: profile.NoTime}, exitError, "dsstar nb --cell-timeout 15m DIR", ""},
		{&describe.DatabaseError{Cause: profile.NoDriver}, exitError, "dsstar nb --python ", ""},
		{&describe.DatabaseError{Cause: profile.Locked}, exitError, "fuser -v", ""},
		{&describe.MaskError{File: "a.pkl"}, exitError, "without a.pkl", ""},
		{&describe.MaskError{}, exitError, "dsstar describe", "cp "},
		{&download.Error{Address: "https://a/b.csv", Status: 404}, exitError, "curl -I https://a/b.csv", ""},
		{&download.Error{Status: 403}, exitCredentials, "curl -I", ""},
		{&download.Error{Size: 2e9}, exitError, "dsstar nb --max-download 3GB DIR", "curl"},
		{&download.Error{Full: true}, exitError, "export XDG_CACHE_HOME=", "curl"},
	} {
		code, text, hints := explain(c.err, usage.Line{Command: "dsstar nb", Args: []string{"DIR"}})
		if code != c.code || text == "" || len(hints) == 0 || !strings.Contains(hints[0], c.hint) ||
			c.not != "" && strings.Contains(strings.Join(hints, "\n"), c.not) {
			t.Errorf("%v: %d %s %q", c.err, code, text, hints)
		}
	}
}

// Ctrl-C is not reported as an error, and keys in errors are not repeated (U11, U15).
func TestReport(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
		want string
	}{
		{stopped(errInterrupted, "n", "r", "", nil), exitInterrupted,
			"dsstar: interrupted"},
		{errors.New("bad"), exitError, "dsstar: error: bad"},
		{usage.New("cannot open mysql://u:hunter2@host/db",
			usage.Again("--server", "http://u:hunter2@host/?token=hunter2")), exitUsage,
			"dsstar: error: cannot open mysql://"},
	} {
		a, _, stderr := testApp(t)
		code, said := a.report(c.err), stderr.String()
		if code != c.code || !strings.HasPrefix(said, c.want) || strings.Contains(said, "hunter2") {
			t.Errorf("exit code %d: %s", code, said)
		}
	}
}

// The doctor says whose key was refused, or that none was sent, never repeats a key in an address
// (U6), and takes no web page for a model.
func TestDoctorEndpoint(t *testing.T) {
	answer := func(write func(w http.ResponseWriter, r *http.Request)) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer right" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			write(w, r)
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	says := func(body string) string {
		return answer(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) })
	}
	page := says("<!doctype html><title>m</title>")
	moved := answer(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/v2"+r.URL.Path, http.StatusMovedPermanently)
	})
	const right = "OPENAI_API_KEY"
	silence := answer(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else nobody notices that the client has gone
		<-r.Context().Done()
	})
	wait := map[string]time.Duration{silence: 50 * time.Millisecond}
	a, _, said := testApp(t, right+"=right", "WRONG_KEY=wrong")
	for _, c := range []struct {
		url, env string
		ok       bool
		hint     string
	}{
		{page, "", false, "--api-key-env OPENAI_API_KEY"},
		{page, "WRONG_KEY", false, "export WRONG_KEY=KEY"},
		{page, right, false, ""},
		{says(""), right, false, ""},
		{says(`"m"`), right, false, ""},
		{says(`{"status":"m"}`), right, false, ""},
		{moved, right, false, "dsstar config"},
		{"http://127.0.0.1:1/v1?key=secret", "", false, "its server running?"},
		{"http://api.openai.invalid/v1?key=secret", "", false, "curl -I http://api.openai.invalid   # is the name right"},
		{silence, right, false, "dsstar config   # shows the base URL, whose server was reached"},
		{answer(http.NotFound), right, false, "dsstar config"},
		{says(`{"choices":[{"message":{"content":"yes"}}]}`), right, true, ""},
	} {
		text, err := a.checkModel(t.Context(), &configs.Settings{BaseURL: c.url, APIKeyEnv: c.env,
			CallTimeout: wait[c.url]}, "m")
		var hints string
		if err != nil {
			_, text, all := explain(err, usage.Line{Command: "dsstar doctor"})
			hints = text + strings.Join(all, "\n")
		}
		if (err == nil) != c.ok || strings.Contains(text+hints, "secret") || !strings.Contains(hints, c.hint) {
			t.Errorf("%+v: %s %v\n%s", c, text, err, hints)
		}
	}
	if want := "asking m at " + silence + ", which has 50ms to answer\n"; !strings.Contains(said.String(), want) {
		t.Errorf("%s\nwhere is %q", said, want)
	}
}

// TestKernelsElsewhere: kernels that cannot see this machine's folders are rejected before a run
// folder is created.
func TestKernelsElsewhere(t *testing.T) {
	t.Parallel()
	runtime := t.TempDir()
	file := sitetest.Start(t, runtime, "0123abcd-user")
	a, _, _ := testApp(t, sitetest.Env(t, runtime)...)
	s := load(t, configs.Sources{Flags: map[string]configs.Flag{
		"kernel": {Name: "--kernel", Value: "newest"}}})
	p, err := a.host.Site(t.Context(), s, site.Use{}, func(string) {})
	if err != nil || p.About().Running == nil || p.About().Running.File != file {
		t.Fatalf("%v %+v", err, p)
	}
	err = p.Look(t.Context(), "/nosuch/out", t.TempDir())
	code, text, hints := explain(err, usage.Line{Command: "dsstar nb"})
	if code != exitUsage || !strings.Contains(text, "does not see /nosuch/out:") || len(hints) == 0 {
		t.Errorf("exit code %d, %s %q", code, text, hints)
	}
}

// The demo's generator runs outside the sandbox: it imports nothing from the current folder and
// gets no keys (S2).
func TestDemoDataInIsolation(t *testing.T) {
	a, _, _ := testApp(t, "OPENAI_API_KEY=secret", "MY_TOKEN=secret", "PYTHONPATH=:"+t.TempDir())
	script := "#!/bin/sh\n(env; pwd; echo \"flag $1\") >\"$0.told\"\n" +
		"for last; do :; done; mkdir \"$last\"\n"
	python := dataFolder(t, map[string]string{"python3": script}) + "/python3"
	noError(t, os.Chmod(python, 0o700))
	a.host.CacheDir = t.TempDir()
	here := t.TempDir()
	t.Chdir(here)
	data := must(a.demoData(t.Context(), load(t, configs.Sources{}), kernel.PythonSpec(python)))
	if _, err := os.Stat(data); err != nil {
		t.Error(err)
	}
	told := content(python + ".told")
	for _, not := range []string{"secret", "\n" + here + "\n"} { // -E ignores PYTHONPATH
		if strings.Contains(told, not) {
			t.Errorf("%s is in %s", not, told)
		}
	}
	wantText(t, "what it was told", told, "PATH=", "flag -E\n")
}

// Programs are not looked for in the current folder, whatever PATH says.
func TestWholePaths(t *testing.T) {
	for list, want := range map[string]string{
		".:/usr/bin::bin:/bin:": "/usr/bin:/bin", ".": "", "": "",
	} {
		if got := wholePaths(list); got != want {
			t.Errorf("%q: %q, want %q", list, got, want)
		}
	}
}

// pip gets its own settings, which may hold a package index's password, but no other keys.
func TestInstallEnv(t *testing.T) {
	a, _, _ := testApp(t, "PIP_INDEX_URL=https://u:p@host/", "MY_TOKEN=t", "MINE=key")
	env := strings.Join(a.host.InstallEnv(&configs.Settings{APIKeyEnv: "MINE"}), "\n") + "\n"
	wantText(t, "the environment", env, "PIP_INDEX_URL=https://u:p@host/\n")
	if strings.Contains(env, "MY_TOKEN=") || strings.Contains(env, "MINE=key") {
		t.Error(env)
	}
}

func load(t *testing.T, from configs.Sources) *configs.Settings {
	t.Helper()
	s := must(configs.Load(from))
	return s
}

func TestHidePasswords(t *testing.T) {
	const address = "--data=postgresql://reader:secret@host/sales"
	args := []string{strings.Clone("nb"), strings.Clone(address)}
	if copies := hidePasswords(args); copies[0] != "nb" || copies[1] != address {
		t.Errorf("copies %q", copies)
	}
	if args[0] != "nb" || strings.Contains(args[1], "secret") || !strings.Contains(args[1], "host/sales") {
		t.Errorf("originals %q", args)
	}
}
