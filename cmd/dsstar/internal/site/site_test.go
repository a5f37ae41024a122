package site

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dsstar/agent/files"
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
		keep    []string
		refused bool
	}{
		{databases, own, nil, false},
		{databases, server, nil, true},
		{databases, guest, nil, true},
		{Host{}, guest, []string{"x"}, false},
		{Host{}, server, []string{"x"}, true},
	} {
		err := c.host.refuse(c.at, &configs.Settings{}, Use{Keep: c.keep})
		if (err != nil) != c.refused {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// TestScriptSecrets: what the script of a proof prints shows no password, either.
func TestScriptSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := Host{Env: append(os.Environ(), "AZURE_STORAGE_ACCOUNT=box", "AZURE_STORAGE_KEY=of-the-account")}
	code := "print('of-the-sea', 'of-the-account'"
	for _, address := range []string{"postgresql://ada:of-the-sea@db.example.org/sales", "az://box/x"} {
		d, _, err := h.FindDatabase(address)
		pyenvtest.OK(t, err)
		h.Databases, code = append(h.Databases, d), code+", '"+d.Address+"'"
	}
	o := &own{host: h, settings: &configs.Settings{}, spec: kernel.PythonSpec(pyenvtest.Python(t)),
		box: sandbox.Box{Tier: sandbox.Off}}
	pyenvtest.OK(t, os.WriteFile(record.Folder(dir).Script(), []byte(code+")"), 0o600))
	x, err := o.RunScript(t.Context(), dir, time.Minute)
	if err != nil || x.Stdout() != "xxxxx xxxxx xxxxx az://box/x\n" {
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
	pyenvtest.OK(t, os.MkdirAll(filepath.Join(wheel, "__init__.py"), 0o755))
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

// TestReopen: a database is opened only if its address is the one that a notebook of this user's dsstar
// names, or one that the user names.
func TestReopen(t *testing.T) {
	const named = "postgresql://db.example:5432/sales"
	sources := []files.Source{{Name: "numbers.csv", Path: "numbers.csv"},
		{Name: "sales" + files.DatabaseEnding, Database: named}}
	for _, c := range []struct {
		address string // of the variable
		made    bool
		allowed string
		opens   bool
	}{
		{"postgresql://me:pass@db.example:5432/sales", true, "", true},
		{"postgres://other@db.example:5432/sales", true, "", true},
		{"postgresql://me:pass@elsewhere.example:5432/sales", true, "", false},
		{"postgresql://me:pass@db.example:5432/salaries", true, "", false},
		{"mysql://me:pass@db.example:5432/sales", true, "", false},
		{"postgresql://me:pass@elsewhere.example:5432/sales", true, "postgresql://elsewhere.example:5432/sales", true},
		{"postgresql://me:pass@db.example:5432/sales", false, "", false},
		{"postgresql://me:pass@db.example:5432/sales", false, named, true},
		{"postgresql://me:pass@elsewhere.example:5432/sales", false, named, false},
		{"", true, named, false},
	} {
		h := Host{Env: []string{"DSSTAR_DB_SALES=" + c.address}}
		err := h.Reopen(sources, &configs.Settings{AllowDatabases: strings.Fields(c.allowed)}, c.made)
		if opens := err == nil; opens != c.opens || opens != (len(h.Databases) == 1) ||
			!opens && strings.Contains(err.Error(), "pass") {
			t.Errorf("%+v: %v, %v", c, err, h.Databases)
		}
	}
}

// TestFindDatabase: cells reach the server of an address with the credentials that its own client would
// find; what is secret is not shown.
func TestFindDatabase(t *testing.T) {
	for _, c := range []struct{ address, env, want string }{
		{"postgres://me:pass@h/d", "", "postgresql://h/d: h:5432"},
		{"mysql://me@h:1/d", "MYSQL_PWD=mine", "mysql://h:1/d: h:1 mine"},
		{"trino://h:8080/d", "", "trino://h:8080/d: h:8080"},
		{"nosuch://h/d", "", ""}, {"postgresql://h:99999/d", "", ""},
		{"s3://lake/a", "AWS_REGION=x AWS_ACCESS_KEY_ID=k AWS_SECRET_ACCESS_KEY=mine", "s3://lake/a: lake.s3.x.amazonaws.com:443 " +
			"s3.x.amazonaws.com:443 AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_REGION AWS_EC2_METADATA_DISABLED mine"},
		{"s3://lake", "AWS_ENDPOINT_URL=http://s3.lab", "s3://lake: s3.lab:80 AWS_REGION AWS_EC2_METADATA_DISABLED AWS_ENDPOINT_URL"},
		{"s3://lake", "AWS_ENDPOINT_URL=nowhere", ""}, {"s3://key:pass@lake", "", ""},
		{"gs://lake", "", "gs://lake: storage.googleapis.com:443"},
		{"az://box", "AZURE_STORAGE_ACCOUNT=a", ""}, {"az://box", "AZURE_STORAGE_KEY=k", ""},
		{"az://box", "AZURE_STORAGE_ACCOUNT=a AZURE_STORAGE_KEY=k AZURE_STORAGE_SAS_TOKEN=s",
			"az://box: a.blob.core.windows.net:443 a.dfs.core.windows.net:443 AZURE_STORAGE_ACCOUNT AZURE_STORAGE_KEY"},
		{"az://box", "AZURE_STORAGE_ACCOUNT=a AZURE_STORAGE_SAS_TOKEN=s AZURE_STORAGE_SERVICE_ENDPOINT=https://h:8",
			"az://box: h:8 AZURE_STORAGE_ACCOUNT AZURE_STORAGE_SAS_TOKEN AZURE_STORAGE_SERVICE_ENDPOINT"},
		{"sc://h:15002/;token=secretly", "", "sc://h:15002: h:15002 GRPC_DNS_RESOLVER secretly"}, {"ray://h", "", ""},
	} {
		d, shown, err := Host{Env: strings.Fields(c.env)}.FindDatabase(c.address)
		got := []string{shown + ":"}
		for _, at := range d.Endpoints {
			got = append(got, fmt.Sprintf("%s:%d", at.Host, at.Port))
		}
		for _, entry := range d.More {
			name, _, _ := strings.Cut(entry, "=")
			got = append(got, name)
		}
		for _, secret := range []string{"mine", "secretly"} {
			if strings.Contains(fmt.Sprint(d), secret) {
				got = append(got, secret)
			}
		}
		if is := strings.Join(got, " "); (err != nil) != (c.want == "") || err == nil && is != c.want {
			t.Errorf("%s with %s: %v\n%s", c.address, c.env, err, is)
		}
	}
}
