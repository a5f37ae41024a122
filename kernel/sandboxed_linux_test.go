package kernel

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"dsstar/kernel/kerneltest"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/kernel/sandbox"
	"dsstar/notebook"
)

// If the network is allowed, cells reach it, and the kernel can be reached in every tier.
func TestSandboxWithNetwork(t *testing.T) {
	t.Parallel()
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	defer l.Close()
	for _, box := range kerneltest.Boxes(t) {
		box.Net = true
		o := options(t)
		o.Sandbox = box
		k := open(t, o)
		runCell(t, k, fmt.Sprintf("import socket; socket.create_connection(('127.0.0.1', %d), 5)",
			l.Addr().(*net.TCPAddr).Port), notebook.OK)
		up := must(filepath.Rel(o.Dir, "/etc/shadow")) // relative to its first working folder
		for _, path := range []string{"/etc/shadow", up} {
			x := runCell(t, k, "open("+strconv.Quote(path)+")", notebook.Raised)
			if !strings.Contains(x.PlainText(), "dsstar sandbox: /etc/shadow is ") &&
				(path != up || box.Tier == sandbox.Builtin) {
				t.Error(x.PlainText())
			}
		}
	}
}

// A kernelspec's own script, which may start any kernel, is reached over sockets. What it reads must be
// allowed, its Python too; one that reads a forbidden file reports that, with a hint.
func TestSandboxOfScripts(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("/var/tmp", "dsk-") // no tier shows it
	ok(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	python := testPython(t)
	real := must(filepath.EvalSymlinks(python))
	scripts := map[string]string{
		"kernel.sh": "#!/bin/sh\nexec " + python + " -m ipykernel_launcher -f \"$1\"\n",
		"activates": "#!/bin/sh\n. " + dir + "/conda.sh\nexec python3 -m ipykernel_launcher -f \"$1\"\n",
		"conda.sh":  "true\n",
	}
	for name, text := range scripts {
		pyenvtest.WriteProgram(t, filepath.Join(dir, name), []byte(text))
	}
	for _, box := range kerneltest.Boxes(t) {
		o := options(t)
		box.Read = append(box.Read, filepath.Dir(filepath.Dir(python)), filepath.Dir(filepath.Dir(real)))
		o.Sandbox = box
		o.Spec = Spec{Name: "script", Language: "python",
			Argv: []string{dir + "/kernel.sh", "{connection_file}"}}
		if box.Tier == sandbox.Builtin {
			runCell(t, open(t, o), "print(1)", notebook.OK)
		}
		o.Spec.Argv[0] = dir + "/activates"
		_, err := Start(t.Context(), o)
		fails(t, err, ErrConfined, dir+"/conda.sh")
	}
}
