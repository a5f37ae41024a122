package pyenv

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// A Python is what an interpreter says of itself.
type Python struct {
	Path           string   // the interpreter itself, even if a script, shim or launcher was called
	Base           string   // for a virtual environment the interpreter that made it, otherwise Path
	Version        string   // such as 3.12.1
	Implementation string   // such as cpython
	Venv           bool     // it has venv and ensurepip
	Missing        []string // of the modules asked for
	// its installation, its module folders, those of PYTHONPATH, and of the libraries it has loaded
	Paths    []string
	Env      map[string]string // the environment that its launcher gives it
	UserBase string            // of the packages installed for this user; "" if there are none
	Writable string            // a path of its code that cells could have changed; then the rest is ""
}

//go:embed describe.py
var describeCode string

const describeMark = "dsstar-python:"

// Describe asks the Python that words start, outside the sandbox, about itself and which of the
// top-level modules it lacks. It imports none of them, and runs nothing in the current folder, in
// PYTHONPATH, or in write: real paths of the folders where cells write.
func Describe(ctx context.Context, words, env, modules, write []string) (p Python, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	lists, _ := json.Marshal([][]string{append([]string{}, modules...), append([]string{}, write...)}) // texts
	code := fmt.Sprintf("MARK, (MODULES, WRITE) = %q, %s\n%s", describeMark, lists, describeCode)
	// in one line, as conda run accepts no more
	out, err := Ask(ctx, env, append(slices.Clone(words), "-I", "-S", "-c",
		"exec("+strconv.QuoteToASCII(code)+", globals())")...)
	if err != nil {
		return p, err
	}
	_, reply, _ := bytes.Cut(out, []byte("\n"+describeMark)) // a launcher may print too
	if json.NewDecoder(bytes.NewReader(reply)).Decode(&p) != nil {
		return p, errors.New("does not answer like Python 3")
	}
	p.Path = cmp.Or(p.Path, words[len(words)-1])
	return p, nil
}

// Check is [Describe] for the user's own interpreter, a path or a name on env's PATH. As in a
// shell, only a name without a folder is looked up there.
func Check(ctx context.Context, python string, env, modules []string) (p Python, err error) {
	var path string
	if filepath.Base(python) != python {
		path, err = filepath.Abs(python)
	} else if all := LookPath(python, env); len(all) > 0 {
		path = all[0]
	} else {
		err = exec.ErrNotFound
	}
	if err == nil {
		p, err = Describe(ctx, []string{path}, env, modules, nil)
	}
	if err != nil {
		return Python{}, fmt.Errorf("run %s: %w", python, err)
	}
	return p, nil
}
