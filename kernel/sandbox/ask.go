package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"dsstar/notebook/disk"
)

// askPython prints the fields of a python. It runs with -I so that PYTHONPATH, which may name a
// stranger's folder, is only listed and no code from it runs. It runs with -S so that *.pth files,
// sitecustomize and usercustomize run only after a check that cells cannot write to their folders.
// WRITE lists the folders where cells write.
const askPython = `
import json, os, site, sys

def said(**what):
    print("\n" + MARK + json.dumps(what))

def writable(path):
    path = os.path.abspath(path)
    while not any((os.path.realpath(path) + "/").startswith(folder + "/") for folder in WRITE):
        if path == os.path.dirname(path):
            return False
        path = os.path.dirname(path)
    return True

def lines(folder, name, *known):
    try:
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            for line in map(str.strip, file):
                if line and not line.startswith(("#", "import ", "import\t")):
                    sys.path.append(os.path.join(folder, line))
    except OSError:
        pass # nor can it be run

def main():
    was, own = list(sys.path), (site.addpackage, site.execsitecustomize, site.execusercustomize)
    site.addpackage, site.execsitecustomize, site.execusercustomize = lines, lambda: None, lambda: None
    site.check_enableusersite = lambda: not os.environ.get("PYTHONNOUSERSITE") # not switched off by -I
    site.main()
    for path in [sys.executable, sys.prefix, sys.base_prefix, sys.exec_prefix, *sys.path]:
        if path and writable(path):
            return said(Writable=path)
    sys.path[:] = was
    site.addpackage, site.execsitecustomize, site.execusercustomize = own
    site.main()
    maps = "/proc/self/maps"
    loaded = [line.split(None, 5)[5].strip() for line in open(maps) if ".so" in line] if os.path.exists(maps) else []
    named = [path for name in ("PYTHONPATH", "PYTHONHOME") for path in os.environ.get(name, "").split(os.pathsep)]
    said(Executable=sys.executable, Env=dict(os.environ),
        Paths=sorted({sys.prefix, sys.base_prefix, sys.exec_prefix, *sys.path, *named, *map(os.path.dirname, loaded)}),
        UserBase=site.getuserbase() if site.ENABLE_USER_SITE and site.getusersitepackages() in sys.path else "")

main()
`

const answerMark = "dsstar-python:"

// askingCode returns askPython in one line, as conda run accepts no more.
func askingCode(write []string) (string, error) {
	folders, err := json.Marshal(append([]string{}, write...)) // never null
	if err != nil {
		return "", err
	}
	code := fmt.Sprintf("MARK, WRITE = %q, %s", answerMark, folders) + askPython
	return "exec(" + strconv.QuoteToASCII(code) + ", globals())", nil
}

// A writableError is about a program that would run outside the sandbox although cells could have
// changed it.
type writableError struct{ path string }

func (e *writableError) Error() string {
	return fmt.Sprintf("%v: %s is in a folder all of which they may write, and the Python that it "+
		"belongs to would be started outside the sandbox", ErrWritable, e.path)
}

func (e *writableError) Unwrap() error { return ErrWritable }

// unwritable returns env without paths, alone or in lists, that lead through a folder where cells
// write.
func unwritable(env, write []string) (all []string) {
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		paths := filepath.SplitList(value)
		safe := slices.DeleteFunc(slices.Clone(paths),
			func(path string) bool { return filepath.IsAbs(path) && leadsThrough(path, write) })
		switch {
		case len(safe) == len(paths):
			all = append(all, entry)
		case len(safe) > 0:
			all = append(all, name+"="+strings.Join(safe, string(filepath.ListSeparator)))
		}
	}
	return all
}

// asked caches the answers of Pythons, each of which takes a process.
var asked sync.Map // a python by the words that start it and its environment

// ask runs askPython in the Python that words start, outside the sandbox. It fails if cells could
// have changed that Python. Paths that cells could have changed are removed from its environment.
func ask(words, env, write []string) (p python, err error) {
	for _, word := range words {
		program := word
		if !strings.Contains(word, "/") {
			program = firstOf(disk.LookPath(word, valueOf(env, "PATH")))
		}
		if filepath.IsAbs(program) && leadsThrough(program, write) {
			return p, &writableError{program}
		}
	}
	env = unwritable(env, write)
	key := strings.Join(slices.Concat(words, []string{""}, env), "\x00")
	if known, ok := asked.Load(key); ok { // perhaps cells wrote to other folders then
		p = known.(python)
		if at := slices.IndexFunc(p.Paths,
			func(path string) bool { return leadsThrough(path, write) }); at >= 0 {
			return p, &writableError{p.Paths[at]}
		}
		return p, nil
	}
	here, err := os.MkdirTemp("", "dsstar-ask-") // a launcher may read its current folder
	if err != nil {
		return p, err
	}
	defer os.RemoveAll(here)
	out, err := start(words, env, write, here)
	if err != nil {
		return p, fmt.Errorf("ask %s where its modules are: %w", strings.Join(words, " "), err)
	}
	var said struct {
		python
		Writable string // a path of its code that cells could have changed
	}
	_, reply, _ := bytes.Cut(out, []byte("\n"+answerMark)) // a launcher may print too
	if err := json.NewDecoder(bytes.NewReader(reply)).Decode(&said); err != nil {
		return p, fmt.Errorf("ask %s where its modules are: it answers %.100q", strings.Join(words, " "),
			out)
	}
	if said.Writable != "" {
		return p, &writableError{said.Writable}
	}
	p = said.python
	p.Executable = cmp.Or(p.Executable, words[len(words)-1])
	p.Paths = slices.DeleteFunc(p.Paths,
		func(path string) bool { return !filepath.IsAbs(path) || exposes(path) != "" })
	asked.Store(key, p)
	return p, nil
}

// start runs askPython in a folder and returns its output.
func start(words, env, write []string, here string) ([]byte, error) {
	code, err := askingCode(write)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], append(slices.Clone(words[1:]), "-I", "-S", "-c",
		code)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = here, env, time.Second
	out, err := cmd.Output()
	if e, ok := errors.AsType[*exec.ExitError](err); ok && len(e.Stderr) > 0 {
		err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(e.Stderr))
	}
	return out, err
}
