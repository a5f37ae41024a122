package site

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"dsstar/agent/record"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/kernel/sandbox"
)

// TestRefuse: a site is used only as it can be, by whatever command.
func TestRefuse(t *testing.T) {
	databases := Host{Databases: []Database{{}}}
	own, server, guest := About{}, About{Server: "http://h/"}, About{Running: &kernel.Running{}}
	for i, c := range []struct {
		host    Host
		at      About
		use     Use
		refused bool
	}{
		{databases, own, Use{}, false},
		{databases, server, Use{}, true},
		{databases, guest, Use{}, true},
		{Host{}, guest, Use{Keep: []string{"x"}}, false},
		{Host{}, server, Use{Keep: []string{"x"}}, true},
	} {
		err := c.host.refuse(c.at, &configs.Settings{}, c.use)
		if (err != nil) != c.refused {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// TestScriptSecrets: what the script of a proof prints shows no password, either.
func TestScriptSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const address = "postgresql://ada:of-the-sea@db.example.org/sales"
	o := &own{host: Host{Env: os.Environ(), Databases: []Database{{Address: address}}},
		settings: &configs.Settings{}, spec: kernel.PythonSpec(pyenvtest.Python(t)),
		box: sandbox.Box{Tier: sandbox.Off}}
	code := "print('" + address + "', 'of-the-sea')"
	if err := os.WriteFile(record.Folder(dir).Script(), []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	x, err := o.RunScript(t.Context(), dir, time.Minute)
	if err != nil || x.Stdout() != "xxxxx xxxxx\n" {
		t.Errorf("%q %v", x.Stdout(), err)
	}
}

// TestAround: the Python of a program is that of the environment in which a wheel has installed it.
func TestAround(t *testing.T) {
	prefix := t.TempDir()
	program := filepath.Join(prefix, "bin", "dsstar")
	wheel := filepath.Join(prefix, "lib", "python3.12", "site-packages", "dsstar")
	if got := around(program); got != nil {
		t.Errorf("got %q without a wheel", got)
	}
	if err := os.MkdirAll(filepath.Join(wheel, "__init__.py"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := around(program); !slices.Equal(got, []string{filepath.Join(prefix, "bin", "python3.12")}) {
		t.Errorf("got %q", got)
	}
}

// TestHubToken: in a session of a hub, its token is for the hub's own servers alone.
func TestHubToken(t *testing.T) {
	h := Host{Env: []string{"JUPYTERHUB_API_TOKEN=hub"}}
	for address, want := range map[string]string{
		"http://h/user/ada/gpu/lab": "hub", "http://h/user/ada/?token=own": "own", "http://h/": ""} {
		if s, err := h.server("--server", address); err != nil || s.Token != want {
			t.Errorf("%s: %q, %v", address, s.Token, err)
		}
	}
}
