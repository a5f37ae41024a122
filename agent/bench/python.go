package bench

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// answerMark begins the line with a Python helper's answer. Other output is ignored.
const answerMark = "\x1edsstar-bench:"

// callCode calls a function of a helper's source, which has its own namespace, and prints what it
// returns. The session keeps the helper, because compiling it takes longer than most scores.
const callCode = `def _dsstar_bench(source, name, args, kept=globals().setdefault('_dsstar_bench_kept', {})):
    import json, warnings
    if source not in kept:
        space = {'__name__': 'dsstar_bench'}
        exec(compile(source, '<dsstar bench>', 'exec'), space)
        kept[source] = space
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        print('\n' + %q + json.dumps(kept[source][name](*json.loads(args))))
_dsstar_bench(%s, %q, %s)
`

// call calls a function of a helper's source with args, and decodes what it returns.
func (p Python) call(ctx context.Context, helper, name string, out any, args ...any) error {
	if p == nil {
		return &StopError{errors.New("scoring needs Python")}
	}
	source, errSource := json.Marshal(helper) // a JSON string is a Python literal
	given, errArgs := json.Marshal(args)
	input, errInput := json.Marshal(string(given))
	if err := errors.Join(errSource, errArgs, errInput); err != nil {
		return err
	}
	stdout, err := p(ctx, fmt.Sprintf(callCode, answerMark, source, name, input))
	if err != nil {
		return err
	}
	i := strings.LastIndex(stdout, answerMark)
	if i < 0 {
		return &CodeError{"it returned nothing"}
	}
	line, _, _ := strings.Cut(stdout[i+len(answerMark):], "\n")
	if err := json.Unmarshal([]byte(strings.TrimRight(line, "\r")), out); err != nil {
		return &CodeError{"its result is invalid: " + err.Error()}
	}
	return nil
}

//go:embed *.py
var helpers embed.FS

// helper returns the source of a helper from its files.
func helper(names ...string) (source string) {
	for _, name := range names {
		part, err := helpers.ReadFile(name + ".py")
		if err != nil {
			panic(err) // the files are part of the program
		}
		source += string(part) + "\n\n"
	}
	return source
}

// scoreText scores by a function of text_score.py. An answer that makes it fail is wrong. The Judge
// is asked for the comparisons that the function wants, one at a time.
func scoreText(function string) rules {
	return func(ctx context.Context, s Scorer, t Task, a *Answer) (Score, error) {
		var said json.RawMessage // null: no answer
		if a != nil {
			said = a.Value
		}
		verdicts := [][3]any{} // of the judge
		for {
			var got struct {
				Score
				Ask     []string `json:"ask"`     // answer and gold that the judge is to compare first
				Problem string   `json:"problem"` // with the task: there is no score
			}
			err := s.Plain.call(ctx, helper("text_score"), function, &got, t.ID, t.Kind, said, t.Gold,
				[]string{textOf(said), textOf(t.Gold)}, s.Compat != Upstream, verdicts)
			if bad, ok := errors.AsType[*CodeError](err); ok {
				return Score{Value: new(float64), Detail: bad.Error()}, nil
			}
			if err == nil && got.Problem != "" {
				err = errors.New(got.Problem)
			}
			if err != nil || got.Ask == nil {
				return got.Score, err
			}
			if s.Judge == nil {
				return Score{}, ErrNoJudge
			}
			same, err := s.Judge(ctx, got.Ask[0], got.Ask[1])
			if err != nil {
				return Score{}, err
			}
			verdicts = append(verdicts, [3]any{got.Ask[0], got.Ask[1], same})
		}
	}
}

// A Process is a Python process that runs code, one piece after another, in one namespace. It
// starts when the first code runs, and restarts after code that ended or hung it. Its methods
// may be called concurrently.
type Process struct {
	Path  func(context.Context) (string, error) // of the interpreter
	Env   []string                              // nil: this program's
	Limit time.Duration                         // of one piece of code; 0: a minute

	mu  sync.Mutex
	cmd *exec.Cmd // nil: not running
	in  io.WriteCloser
	out *json.Decoder
}

// serve runs the code in each input line (a JSON string), and replies with a line that holds
// what the code printed, and its traceback.
const serve = `
import contextlib, io, json, sys, traceback
real = sys.stdout
space = {"__name__": "__main__"}
for line in sys.stdin:
    out, error = io.StringIO(), ""
    with contextlib.redirect_stdout(out):
        try:
            exec(json.loads(line), space)
        except BaseException:
            error = traceback.format_exc()
    print(json.dumps([out.getvalue(), error]), file=real, flush=True)
`

// Run implements [Python].
func (p *Process) Run(ctx context.Context, code string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		if err := p.start(ctx); err != nil {
			return "", fmt.Errorf("start Python: %w", err)
		}
	}
	limit := cmp.Or(p.Limit, time.Minute)
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	process := p.cmd.Process
	defer context.AfterFunc(bounded, func() { _ = process.Kill() })()
	var reply [2]string // what it printed, and its traceback
	err := json.NewEncoder(p.in).Encode(code)
	if err == nil {
		err = p.out.Decode(&reply)
	}
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case bounded.Err() != nil:
		err = &CodeError{"it took longer than " + limit.String()}
	case err != nil:
		err = &CodeError{"it ended Python"}
	case reply[1] != "":
		lines := strings.Split(strings.TrimSpace(reply[1]), "\n")
		return reply[0], &CodeError{lines[len(lines)-1]}
	}
	if err != nil {
		p.close()
	}
	return reply[0], err
}

func (p *Process) start(ctx context.Context) error {
	path, err := p.Path(ctx)
	if err != nil {
		return err
	}
	cmd := exec.Command(path, "-I", "-X", "utf8", "-c", serve)
	cmd.Env = p.Env
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	p.cmd, p.in, p.out = cmd, in, json.NewDecoder(out)
	return nil
}

// Close ends the process. A later Run starts another one.
func (p *Process) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.close()
}

func (p *Process) close() {
	if p.cmd == nil {
		return
	}
	_ = p.in.Close()
	_ = p.cmd.Process.Kill() // it has nothing to save
	_ = p.cmd.Wait()
	p.cmd = nil
}
