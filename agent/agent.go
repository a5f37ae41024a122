package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"dsstar/agent/ask"
	"dsstar/agent/describe"
	"dsstar/agent/files"
	"dsstar/agent/record"
)

// run is one run. Workspaces run its cells. It reports events, and is the [describe.Journal].
type run struct {
	t     *record.Trajectory
	mu    sync.Mutex // guards t while files are described
	cfg   Config
	asker *ask.Asker

	warned   map[string]bool // what the user was told in this attempt at the run
	began    time.Time       // this attempt
	before   record.Seconds  // that the attempts before took
	resumed  bool            // this attempt goes on with a record
	retraced int             // what the journal was asked for when it began again
	kernel   ask.Stopwatch

	files    *describe.Describer
	shown    shown
	work     *workspace     // of the accepted cells and the branches
	apart    *workspace     // of the second derivation
	ending   sync.WaitGroup // of sessions of which nothing else depends on their end
	approved bool           // the last cell is one that a person has seen and accepted

	all         []record.File       // that the data folder had and the run may look at
	data        map[string]string   // their sums as the run began, by their names
	digest      string              // of the data
	definitions []record.Definition // that bind
	changedFile string              // a data file that is no longer as data has it
}

// Run answers the task's question. The trajectory is never nil. It holds all that happened,
// also if there is an error: a model or server that failed, a reply that could not be read,
// or a cancelled context.
func Run(ctx context.Context, cfg Config, task record.Task) (*record.Trajectory, error) {
	t := newTrajectory(cfg, task)
	r := newRun(cfg, t)
	t.Sizes = r.asker.Sizes()
	r.all, t.Described = task.Files, cfg.Baseline != nil // it looks at them itself
	return r.whole(ctx, r.answerAll)
}

// DescribeFiles describes the task's files as [Run] would, and nothing more: the trajectory
// has no rounds. If there are more files than MaxFiles, the question chooses among them. Data
// must be absolute. Dir is not used, and no folder is made.
func DescribeFiles(ctx context.Context, cfg Config, task record.Task) (*record.Trajectory, error) {
	t := newTrajectory(cfg, task)
	r := newRun(cfg, t)
	defer func() { // as a model would see them
		for i, d := range t.Descriptions {
			t.Descriptions[i].Text = r.asker.Mask.Mask(d.Text)
		}
	}()
	return r.whole(ctx, r.files.DescribeOnly)
}

func newTrajectory(cfg Config, task record.Task) *record.Trajectory {
	task.Mask = slices.Concat(task.Mask, cfg.Columns) // from the first notebook on, which may be resumed
	t := record.New(task, record.Question{})
	t.Method, t.Choice, t.Sandbox = cfg.Method, cfg.Choice, cfg.Sandbox
	t.Started, t.Warnings, t.Recalled = time.Now(), slices.Clone(cfg.Warnings), cfg.Recalled
	return t
}

func newRun(cfg Config, t *record.Trajectory) *run {
	r := &run{t: t, cfg: cfg, warned: map[string]bool{}, began: time.Now(),
		retraced: t.Journal.Asked()}
	r.work = &workspace{run: r, purpose: Work, folder: cfg.Dir, renewed: map[int]bool{}}
	r.apart = &workspace{run: r, purpose: Second}
	r.asker = ask.NewAsker(cfg.Settings, r.system, r.Warn)
	r.asker.Journal = t.Journal
	t.Journal.In(cfg.Dir)
	t.Journal.Saved = func(kind string) error {
		if slices.Contains(lookedAt, kind) {
			return nil // the next event saves it
		}
		return r.observe(Event{Kind: Recorded})
	}
	open := func(ctx context.Context, dir string) (describe.Session, error) {
		return cfg.Open(ctx, Describe, dir)
	}
	r.files = describe.New(r.asker, cfg.Options, t, r.dataPath(), &r.kernel, r, open)
	return r
}

// lookedAt are the kinds of results that cost a moment to get again.
var lookedAt = []string{"sight", "files", "origin", "apart"}

// whole does the work of a run within its time and ends its record.
func (r *run) whole(ctx context.Context, work func(context.Context) error) (*record.Trajectory, error) {
	limited, cancel := r.asker.WithTime(ctx)
	defer cancel()
	err := ask.Overdue(limited, work(limited))
	switch {
	case errors.Is(err, context.Canceled):
		r.t.Failure = "interrupted"
	case err != nil:
		r.t.Failure = err.Error()
	}
	r.t.Ended = true
	return r.t, cmp.Or(err, r.observe(Event{Kind: Ended, Before: err != nil && !r.live()}))
}

// maxPasses bounds how often a run begins again since a cell gives something else than it did.
const maxPasses = 5

// answerAll answers all questions in order, each on the cells of those before.
func (r *run) answerAll(ctx context.Context) (ended error) {
	if err := r.observe(Event{Kind: Begun}); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer r.ending.Wait()
	defer r.work.close()
	defer r.leaveApart()
	defer cancel() // first, so that a session still opening gives up
	if !r.t.Described {
		r.work.prepare(ctx)
	}
	if err := r.describeData(ctx); err != nil {
		return err
	}
	r.digest = r.t.DataDigest()
	if err := r.define(ctx); err != nil {
		return err
	}
	if r.cfg.Guest {
		if err := r.meet(ctx); err != nil { // its variables are part of what is asked
			return err
		}
		defer func() { ended = cmp.Or(ended, r.takeLeave(ctx)) }()
	}
	r.t.Described = true
	var err error
	for range maxPasses {
		err = r.pass(ctx)
		if _, changed := errors.AsType[*changedError](err); !changed {
			return err
		}
		r.resumed, r.retraced = true, r.t.Journal.Asked() // the next one retraces this
	}
	return err
}

// pass answers the questions from the first one on, each within the limits that it had, the last one at
// least within those of now.
func (r *run) pass(ctx context.Context) error {
	r.t.Rewind()
	r.asker.ShowAs(r.t.Sizes)
	answer := r.answer
	switch {
	case r.cfg.Baseline != nil:
		answer = (&Desk{r}).answer
	case r.t.Method.Script:
		answer = r.published
	}
	for {
		if r.cfg.Guest && r.work.host == nil {
			if err := r.meet(ctx); err != nil {
				return err
			}
		}
		r.asker.Begin(r.t.Earlier() + 1)
		r.t.UsedOnly = false
		r.shown, r.approved = shown{}, false
		if err := r.chooseDefinitions(); err != nil {
			return err
		}
		l, now := &r.t.Limits, record.Limits{Rounds: r.cfg.MaxRounds, Tries: r.cfg.DebugTries}
		if *l = cmp.Or(*l, now); len(r.t.Later) == 0 {
			l.Rounds, l.Tries = max(l.Rounds, now.Rounds), max(l.Tries, now.Tries)
		}
		err := answer(ctx)
		if unread, ok := errors.AsType[*ask.Error](err); ok {
			r.asker.ForgetUnread(unread) // it would end the run again
		}
		if err != nil || r.cfg.Baseline != nil { // whose answer nobody proves
			return err
		}
		if r.t.Answer() == "" {
			r.t.Limits.Again += 1 + r.cfg.DebugTries // whoever resumes the run wants other tries
			return nil
		}
		if err := r.prove(ctx); err != nil {
			return err
		}
		if err := r.learnFrom(ctx); err != nil || !r.t.Next() {
			return err
		}
	}
}

// describeData has the files described unless the record has their descriptions. First it has masked what
// no model sees: of all files that cells can open, and of the user's variables. What cells print is looked
// at where they run.
func (r *run) describeData(ctx context.Context) error {
	for _, v := range r.t.Variables {
		r.asker.Mask.Learn(v.Text)
	}
	if err := r.files.Guard(ctx, r.all); err != nil {
		return err
	}
	if r.t.Described {
		r.data = r.sums()
		return nil
	}
	every := slices.Clone(r.t.Task.Files)
	if err := r.files.Choose(); err != nil {
		return err
	}
	r.all = r.t.Task.Files
	r.data = r.sums()
	for i, f := range r.all {
		if f.IsWhole() {
			r.t.Task.Files[i].Sum = r.data[f.Name]
		}
	}
	if err := r.files.Describe(ctx); err != nil || r.t.Task.Others == 0 {
		return err
	}
	rest := slices.DeleteFunc(every, func(f record.File) bool { // what the model is not shown
		return slices.ContainsFunc(r.t.Task.Files, func(shown record.File) bool { return shown.Name == f.Name })
	})
	if len(rest) <= files.MostInDigest {
		sums := files.Sums(r.t.Task.In(r.dataPath()), rest)
		for i, f := range rest {
			rest[i].Sum = sums[f.Name]
		}
	}
	r.t.Task.Rest = files.Digest(rest)
	return nil
}

// rounds runs rounds until the plan suffices, the rounds are used up, or the solver's reply
// cannot be read. In the first round that is an error.
func (r *run) rounds(ctx context.Context, round func(context.Context) error) error {
	for r.roundsLeft() > 0 && !r.t.Sufficient() && r.t.Judged().Disputes == 0 {
		err := round(ctx)
		if unread, ok := errors.AsType[*ask.Error](err); ok && r.t.Steps() > 0 {
			return r.Warn(unread.Error())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *run) roundsLeft() int { return r.t.RoundsLeft(r.t.Limits.Rounds) }

func (r *run) beginRound(step string) error {
	r.t.Begin(step)
	return r.observe(Event{Kind: Planned, Text: step})
}

// route takes a route after the current round. The next cell runs where it leads.
func (r *run) route(back int, reason string) error {
	r.t.Take(record.Route{Back: back, Reason: reason})
	return r.observe(Event{Kind: Routed, Text: reason})
}

// drop drops the current round's step, for which no attempt was good: the round gets verdict and
// route without the model.
func (r *run) drop(problem string) error {
	round := r.t.Last()
	round.Verdict = &record.Verdict{Reason: fmt.Sprintf("step %d could not be carried out: %s",
		round.Place, problem)}
	if round.Rejected() {
		round.Verdict.Reason = fmt.Sprintf("step %d was %s", round.Place, problem)
	}
	return r.route(round.Place, problem)
}

// elsewhere returns the trajectory for cells in another folder: the data folder has its absolute
// path.
func (r *run) elsewhere() *record.Trajectory {
	t := *r.t
	t.Task.Data = r.dataPath()
	return &t
}

// sums returns the sums of the files that the run may look at, by their names. A file is read again
// only if it has been touched.
func (r *run) sums() map[string]string {
	return files.Sums(r.t.Task.In(r.dataPath()), r.all)
}

// checkData warns once if a data file is not as it was when the run began, or was not there. Cells are
// told not to write to the data; an answer from files that the run has changed itself cannot be proved.
func (r *run) checkData() error {
	if r.t.Task.Data == "" || r.changedFile != "" {
		return nil
	}
	now, known := r.sums(), map[string]bool{}
	for _, f := range r.all {
		if known[f.Name] = true; now[f.Name] != r.data[f.Name] {
			r.changedFile = f.Name
		}
	}
	if r.t.Task.Others == len(r.all)-len(r.t.Task.Files) { // it knows all files
		list, _ := files.List(context.Background(), r.t.Task.In(r.dataPath()))
		for _, f := range list.Files {
			if !known[f.Name] {
				r.changedFile = f.Name
			}
		}
	}
	if r.changedFile == "" {
		return nil
	}
	return r.Warn(fmt.Sprintf("the data file %s was changed during the run: the answer cannot be "+
		"verified", r.changedFile))
}

// dataPath returns the absolute path of the data folder, or "".
func (r *run) dataPath() string { return record.Folder(r.cfg.Dir).Data(r.t.Task.Data) }
