package bench

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"dsstar/agent/brief"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

// A script is a function of Python files that share one namespace.
type script struct {
	function string
	files    []string
}

//go:embed *.py
var helpers embed.FS

func (s script) source() (text string) {
	for _, name := range s.files {
		part, _ := helpers.ReadFile(name + ".py") // they are part of the program
		text += string(part) + "\n\n"
	}
	return text
}

// A CodeError reports that a scorer's code did not finish because of what an agent left.
type CodeError struct{ Text string }

func (e *CodeError) Error() string { return "the scorer's code failed: " + e.Text }

// A Session is a Python with the packages of the managed environment.
type Session interface {
	Execute(ctx context.Context, code string) (notebook.Execution, error)
	Close() error
}

// An Opener opens a confined session for scorers' code, which may read the paths in read and
// write to the path write ("": none). Its working folder is dir/files.
type Opener func(ctx context.Context, dir string, read []string, write string) (Session, error)

// A python runs scorers' code. Its session opens for the first code and is reused, because starting
// one takes longer than most scores. After code that failed it is closed, because the code may have
// damaged it. The caller must close it.
type python struct {
	open    Opener // nil: there is no Python
	read    []string
	write   string
	session Session // nil: none is open
	dir     string  // a temporary folder
}

// answerMark begins the line with a script's answer. Other output is ignored.
const answerMark = "\x1edsstar-bench:"

// callCode calls a function of a script's source, which has its own namespace, and prints what it
// returns. The session keeps the namespace, because compiling takes longer than most scores.
const callCode = `def _dsstar_bench(source, name, args, kept=globals().setdefault('_dsstar_bench_kept', {})):
    import json, warnings
    if source not in kept:
        space = {'__name__': 'dsstar_bench'}
        exec(compile(source, '<dsstar bench>', 'exec'), space)
        kept[source] = space
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        print('\n' + %q + json.dumps(kept[source][name](**json.loads(args))))
_dsstar_bench(%s, %q, %s)
`

// call calls a script with arguments by name, and decodes what it returns. The error is a
// [*CodeError] if the code failed, ran out of time or memory, or ended the session. Any other
// error is not the code's fault.
func (p *python) call(ctx context.Context, s script, args map[string]any, out any) error {
	given, err := json.Marshal(args)
	if err != nil {
		return err
	}
	stdout, err := p.run(ctx, fmt.Sprintf(callCode, answerMark, Said(s.source()), s.function,
		Said(string(given)))) // a JSON string is a Python literal
	if err != nil {
		return err
	}
	i := strings.LastIndex(stdout, answerMark)
	if i < 0 {
		return &CodeError{"it returned nothing"}
	}
	line, _, _ := strings.Cut(stdout[i+len(answerMark):], "\n")
	if err := json.Unmarshal([]byte(line), out); err != nil {
		return &CodeError{"its result is invalid: " + err.Error()}
	}
	return nil
}

// run runs code and returns what it printed.
func (p *python) run(ctx context.Context, code string) (stdout string, err error) {
	if p.session == nil {
		err = p.start(ctx)
	}
	var e notebook.Execution
	if err == nil {
		e, err = p.session.Execute(ctx, code)
	}
	if err == nil && e.Status != notebook.OK {
		why := cmp.Or(strings.TrimSpace(e.PlainText()), e.Reason, string(e.Status))
		err = &CodeError{Text: brief.Clip(brief.OneLine(why), 500)}
	}
	if err != nil {
		p.close()
	}
	return e.Stdout(), err
}

func (p *python) start(ctx context.Context) (err error) {
	if p.open == nil {
		return &StopError{errors.New("scoring needs Python")}
	}
	if p.dir, err = disk.TempFolder("", "dsstar-score-"); err == nil {
		err = os.Mkdir(filepath.Join(p.dir, "files"), 0o755)
	}
	if err == nil {
		p.session, err = p.open(ctx, p.dir, p.read, p.write)
	}
	return err
}

func (p *python) close() {
	if p.session != nil {
		_ = p.session.Close() // it is not used again
	}
	if p.dir != "" {
		_ = disk.RemoveTemp(p.dir)
	}
	p.session, p.dir = nil, ""
}
