package rerun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/term"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/kernel/checkpoint"
	"dsstar/notebook"
	"dsstar/notebook/compare"
	"dsstar/notebook/human"
)

// roundResult is the object that --json prints with --round. Its fields are a
// contract: see the help.
type roundResult struct {
	Notebook string          `json:"notebook"`
	Round    int             `json:"round"`
	Step     string          `json:"step"`
	Attempts []attemptResult `json:"attempts"`
	Seconds  float64         `json:"seconds"`
	Kernel   kernelInfo      `json:"kernel"`
}

// An attemptResult is one attempt that was executed again.
type attemptResult struct {
	Attempt     int                  `json:"attempt"`
	Recorded    notebook.Status      `json:"recorded"`
	Status      notebook.Status      `json:"status"`
	Error       string               `json:"error"` // "": it ran
	Text        string               `json:"text"`
	Verdict     verdict              `json:"verdict"`
	Differences []compare.Difference `json:"differences"`
}

// A replay executes one round again.
type replay struct {
	Flags
	place    *place
	k        *checkpoint.Session
	show     *transcript
	base     []string // the cells before the round
	attempts []record.Attempt
	numbers  []int // of the attempts, in the notebook
	result   roundResult
}

// round executes the attempts of a round again, each on the state at the beginning of the
// round.
func (a *Runner) round(ctx context.Context, path string, nb *notebook.Notebook, place *place,
	flags Flags, s *configs.Settings) error {
	begin := time.Now()
	r := &replay{Flags: flags, place: place}
	if err := r.find(path, nb); err != nil {
		return err
	}
	patience := flags.Timeout
	if patience == 0 {
		patience = s.CellTimeout // as in the run, where an attempt may have timed out
	}
	p := a.Progress(flags.Quiet)
	defer p.Stop()
	files := filepath.Join(place.dir, "files")
	k, _, err := a.start(ctx, path, nb, place, s, p, kernel.Options{
		Dir: place.dir, Scratch: files, Env: place.env, CellTimeout: patience,
	})
	if err != nil {
		return err
	}
	defer k.Close()
	p.Wait(fmt.Sprintf("running the %s before round %d", human.Plural(len(r.base), "cell"),
		r.result.Round))
	r.k = k
	r.result.Kernel.of(k.Info())
	if err := r.rebuild(ctx, true); err != nil {
		return r.unbuilt(err)
	}
	p.Stop()
	r.show = a.newTranscript(flags.Quiet)
	err = r.run(ctx)
	r.show.close()
	if err != nil {
		return r.unbuilt(err)
	}
	r.result.Seconds = time.Since(begin).Seconds()
	return a.concludeRound(r)
}

// find finds the round in the notebook.
func (r *replay) find(path string, nb *notebook.Notebook) error {
	if !r.place.own {
		return usage.New(fmt.Sprintf("--round: %s was not written by dsstar and has no rounds",
			term.Printable(path)), usage.Without("round"))
	}
	t, err := page.Read(nb)
	if err != nil {
		return err
	}
	if r.place.data != "" {
		t.Task.Data = r.place.data
	} else if !filepath.IsAbs(t.Task.Data) {
		t.Task.Data = filepath.Join(r.place.home, t.Task.Data)
	}
	n := *r.Round
	round, cells, ok := t.At(n)
	if rounds := t.RoundsTaken(); n < 1 || n > rounds {
		last := usage.Again("--round", strconv.Itoa(rounds))
		if rounds == 0 {
			last = usage.Without("round")
		}
		return usage.New(fmt.Sprintf("--round: the run has only %s, not %d",
			human.Plural(rounds, "round"), n), last)
	}
	for i, a := range round.Attempts {
		if !a.NotRun() {
			r.attempts, r.numbers = append(r.attempts, a), append(r.numbers, i+1)
		}
	}
	if r.base = cells; !ok || len(r.attempts) == 0 {
		return usage.New(fmt.Sprintf("--round: no cell ran in round %d", n),
			usage.Again("--check").But("round"))
	}
	r.result = roundResult{Notebook: path, Round: n, Step: round.Step, Attempts: []attemptResult{}}
	return nil
}

// errUnbuilt reports a session that could not be rebuilt.
type errUnbuilt struct{ text string }

func (e errUnbuilt) Error() string { return e.text }

// rebuild brings the session into the state at the beginning of the round; first is set in a fresh
// kernel.
func (r *replay) rebuild(ctx context.Context, first bool) error {
	var all []notebook.Execution
	var err error
	if !first {
		var back notebook.Restoration
		back, err = r.k.Rollback(ctx, r.base)
		all = back.Executions
	}
	for i := 0; first && err == nil && i < len(r.base); i++ {
		var x notebook.Execution
		if x, err = r.k.Execute(ctx, r.base[i]); x.Status != notebook.OK {
			first = false
		}
		all = append(all, x)
	}
	if err != nil {
		return err
	}
	if last := all[len(all)-1]; last.Status != notebook.OK {
		return errUnbuilt{fmt.Sprintf(
			"cannot rebuild the session before round %d: cell %d of %d: %s", r.result.Round,
			len(all), len(r.base), problemOf(last))}
	}
	return nil
}

// unbuilt converts an error of rebuild: in a check, cells that now fail are a difference.
func (r *replay) unbuilt(err error) error {
	if u, ok := errors.AsType[errUnbuilt](err); ok && r.Check {
		return &ChangedError{u.text}
	}
	return err
}

// A ChangedError reports a difference found by a check, which has its own exit code.
type ChangedError struct{ Text string }

func (e *ChangedError) Error() string { return e.Text }

// run executes the attempts, and restores the session between them.
func (r *replay) run(ctx context.Context) error {
	for i, recorded := range r.attempts {
		if i > 0 {
			if err := r.rebuild(ctx, false); err != nil {
				return err
			}
		}
		if len(r.attempts) > 1 {
			r.show.say("try %d", r.numbers[i])
		}
		r.show.cell(len(r.base)+1, recorded.Code, true)
		x, err := r.k.ExecuteCell(ctx,
			kernel.Cell{Code: recorded.Code, MayRaise: true, Observe: r.show.output})
		if err != nil {
			return err
		}
		r.show.end(x)
		x.Outputs = r.place.moved(x.Outputs)
		r.result.Attempts = append(r.result.Attempts, r.compare(r.numbers[i], recorded.Execution, x))
	}
	return nil
}

// compare compares an execution with the record of its attempt.
func (r *replay) compare(n int, was, is notebook.Execution) attemptResult {
	a := attemptResult{Attempt: n, Recorded: outcome(was), Status: outcome(is),
		Text: is.PlainText(), Verdict: same, Differences: []compare.Difference{}}
	if a.Status != notebook.OK {
		a.Error = problemOf(is)
	}
	// The outputs of a cell that was stopped depend on timing.
	if r.Check && a.Status == a.Recorded && (a.Status == notebook.OK || a.Status == notebook.Raised) {
		a.Differences = append(a.Differences, compare.Outputs(was.Outputs, is.Outputs, r.Tolerance)...)
	}
	if a.Status != a.Recorded || len(a.Differences) > 0 {
		a.Verdict = differs
	}
	return a
}

// outcome is how a cell ended. One that ran but was rejected counts as OK.
func outcome(x notebook.Execution) notebook.Status {
	if _, raised := x.Error(); x.Status == notebook.Raised && !raised && x.Reason != "" {
		return notebook.OK
	}
	return x.Status
}

// concludeRound prints the results of the attempts, and returns an error that carries the exit
// code.
func (a *Runner) concludeRound(r *replay) error {
	var err error
	if r.JSON {
		err = term.JSON(a.Stdout, r.result)
	} else {
		err = r.report(a.Stdout)
	}
	if err != nil {
		return err
	}
	for _, attempt := range r.result.Attempts {
		switch {
		case attempt.Verdict == same:
		case r.Check:
			return ErrDiffers
		default:
			return fmt.Errorf("round %d: attempt %d did not end as recorded", r.result.Round,
				attempt.Attempt)
		}
	}
	return nil
}

func (r *replay) report(w io.Writer) error {
	var b strings.Builder
	begin := fmt.Sprintf("round %-2d ", r.result.Round)
	fmt.Fprintf(&b, "%s%s\n", begin, term.Fit(term.Printed(r.result.Step), 99-len(begin)))
	for _, a := range r.result.Attempts {
		what := "ran"
		if a.Error != "" {
			what = a.Error
		}
		switch {
		case a.Status != a.Recorded:
			what += "; in the record it " + outcomeWords[a.Recorded]
		case !r.Check:
			what += ", as recorded"
		}
		fmt.Fprintln(&b, checkLine(fmt.Sprintf("try %d", a.Attempt), string(a.Verdict), what))
		reportDifferences(&b, "", a.Differences)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// outcomeWords say how a cell ended.
var outcomeWords = map[notebook.Status]string{
	notebook.OK: "ran", notebook.Raised: "raised an exception",
	notebook.TimedOut: "ran past the time-out", notebook.Died: "killed the kernel",
}
