package kernel

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/kernel/pyenv/pyenvtest"
)

// A kernel that cannot bind a port while this program has it bound is started again with the port free.
func TestPortsNotShared(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := filepath.Join(dir, "other")
	tries := filepath.Join(dir, "tries")
	const code = `import json, socket, sys
open(sys.argv[2], 'a').write('x')
socket.socket().bind(('127.0.0.1', json.load(open(sys.argv[1]))['shell_port']))
from ipykernel.kernelapp import launch_new_instance
launch_new_instance(['-f', sys.argv[1]])`
	text := "#!/bin/sh\nexec " + testPython(t) + " -c \"" + code + "\" \"$1\" " + tries + "\n"
	pyenvtest.WriteProgram(t, script, []byte(text))
	o := options(t)
	o.Spec = Spec{Name: "other", Argv: []string{script, "{connection_file}"}}
	prints(t, open(t, o), "1 + 1", "2")
	if b, err := os.ReadFile(tries); err != nil || strings.Count(string(b), "x") != 2 {
		t.Errorf("tries %q, %v", b, err)
	}
}

// A kernel that dies for another reason is started twice, and the first error is reported: the
// second may be about a port that another program has taken.
func TestPortsFirstReason(t *testing.T) {
	t.Parallel()
	tries := filepath.Join(t.TempDir(), "tries")
	o := options(t)
	o.Spec = Spec{Name: "other", Argv: []string{"/bin/sh", "-c",
		`echo x >>"$0"; echo died of $(grep -c x "$0") >&2; exit 3`, tries, "{connection_file}"}}
	k, err := Start(t.Context(), o)
	if err == nil {
		k.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "died of 1") {
		t.Error(err)
	}
	if b, err := os.ReadFile(tries); err != nil || strings.Count(string(b), "x") != 2 {
		t.Errorf("tries %q, %v", b, err)
	}
}
