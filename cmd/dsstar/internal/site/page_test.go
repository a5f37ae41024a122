package site

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
)

func TestPage(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]struct{ server, kernel string }{
		"http://localhost:8888/lab/tree/dir/my%20analysis.ipynb?token=abc":   {"http://localhost:8888/?token=abc", "dir/my analysis.ipynb"},
		"http://localhost:8888/lab/workspaces/auto-x/tree/a.ipynb":           {"http://localhost:8888/", "a.ipynb"},
		"http://localhost:8888/lab/tree/RTC:dir/a.ipynb":                     {"http://localhost:8888/", "dir/a.ipynb"},
		"http://localhost:8888/notebooks/a.ipynb?factory=x#cell":             {"http://localhost:8888/", "a.ipynb"},
		"https://hub.example.org/user/ada/doc/tree/%C3%BCbung/a.ipynb?reset": {"https://hub.example.org/user/ada/", "übung/a.ipynb"},
		"http://[::1]:8888/base/api/kernels/54fe87ba-0/channels?token=a%2Bb": {"http://[::1]:8888/base/?token=a%2Bb", "54fe87ba-0"},
		"http://localhost:8888/nbclassic/notebooks/lab/tree.ipynb":           {"http://localhost:8888/", "lab/tree.ipynb"},
		"analysis.ipynb": {"", "analysis.ipynb"},
		"https://hub.example.org/user/lab/lab/workspaces/w/tree/tree/x.ipynb?token=secret": {"https://hub.example.org/user/lab/?token=secret", "tree/x.ipynb"},
	} {
		s := &configs.Settings{Kernel: address}
		if err := OnPage(s); err != nil || s.Server != want.server || s.Kernel != want.kernel {
			t.Errorf("%s: %v, server %q, kernel %q", address, err, s.Server, s.Kernel)
		}
	}
	for address, said := range map[string]string{
		"http://localhost:8888/lab?token=secret":                 "neither a notebook nor a kernel: http://localhost:8888/",
		"http://localhost:8888/lab/tree/dir?token=secret":        "neither a notebook nor a kernel",
		"http://localhost:8888/lab/tree/data.csv?token=secret":   "neither a notebook nor a kernel",
		"http://localhost:8888/lab/workspaces/auto?token=secret": "neither a notebook nor a kernel",
		"http://other:8888/lab/tree/a.ipynb?token=secret":        "--server is another one",
	} {
		s := &configs.Settings{Kernel: address, Server: "http://127.0.0.1:8888/lab"}
		err := OnPage(s)
		bad, ok := errors.AsType[*usage.Error](err)
		if !ok || !strings.Contains(bad.Text, said) || len(bad.Hints) == 0 ||
			strings.Contains(fmt.Sprint(bad.Text, bad.Hints), "secret") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestUnshared: kernels that cannot see temporary files get another message than those that cannot
// see the data.
func TestUnshared(t *testing.T) {
	err := unshared("http://far/", []string{"/tmp/dsstar-look-1"}, "/tmp/dsstar-look-1").(*usage.Error)
	if !strings.Contains(err.Text, "temporary files, /tmp") ||
		!strings.Contains(fmt.Sprint(err.Hints), "TMPDIR") {
		t.Errorf("%+v", err)
	}
}
