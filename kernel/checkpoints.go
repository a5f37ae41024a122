package kernel

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dsstar/notebook"
)

const (
	checkpointing = "dsstar checkpoints" // the feature of kernels that freeze copies of themselves (docs/checkpoints.md)
	mostFrozen    = 40                   // frozen copies at once: each is a process
	defaultCopies = 1 << 30              // bytes of files that are kept
)

// Way is how Rollback goes back where nothing is in the way.
func (k *Kernel) Way() notebook.Way {
	switch k.way.(type) {
	case stay:
		return notebook.NotAtAll
	case names:
		return notebook.ByNames
	case *checkpoints:
		return notebook.ByCheckpoint
	}
	return notebook.ByReplay
}

// checkpoints goes back to frozen copies of the session, and where there is none
// by replay. It is for one Kernel.
type checkpoints struct {
	replay
	marks  []*mark // the oldest first
	copies *copies // of the files in Scratch; nil if there is no such folder
	folder string  // Scratch, as processes see it
	budget int64   // bytes that the kernel may hold with its copies; 0 until it is known
	off    string  // why no copies are made any more; ""
	mute   bool    // the kernel did not answer in time, and is asked no more
}

// A mark is a state that the session was in.
type mark struct {
	trail        // that had led to it
	id    string // of the frozen copy; "" if there is none
	count int    // execution_count
	files *state // what Scratch held
	why   string // why there is no copy
}

// newWay returns the way back for a session.
func newWay(s *session, o Options, own bool) wayBack {
	switch {
	case o.Stays:
		o.Stays = false
		return stay{newWay(s, o, own)}
	case !own:
		return names{}
	case o.NoCheckpoints || !s.freezes():
		return replay{}
	}
	c := &checkpoints{budget: o.MaxMemory}
	if o.Scratch != "" {
		store := cmp.Or(o.Copies, filepath.Join(os.TempDir(), "dsstar-copies-"+rand.Text()))
		var err error
		if c.copies, err = newCopies(o.Scratch, store, cmp.Or(o.MaxCopies, defaultCopies)); err != nil {
			c.off = err.Error()
		}
		if c.folder, err = filepath.EvalSymlinks(o.Scratch); err == nil {
			c.folder, err = filepath.Abs(c.folder)
		}
		if err != nil {
			c.off = err.Error()
		}
	}
	return c
}

// freezes reports whether the kernel can freeze copies of itself.
func (s *session) freezes() bool { return slices.Contains(s.info.Features, checkpointing) }

const died = "the kernel died: "

// obituary reads the content of an error, and of a reply with one, by which a kernel
// that has frozen copies says that the process which ran cells has ended, and how.
func (s *session) obituary(content json.RawMessage) (how string, ok bool) {
	var c struct{ EName, EValue string }
	if !s.freezes() || json.Unmarshal(content, &c) != nil || c.EName != "KernelDied" {
		return "", false
	}
	return strings.CutPrefix(c.EValue, died)
}

// kill ends the kernel, or of one with frozen copies the process that runs cells.
func (s *session) kill() (done string) {
	if s.guest != nil || !s.freezes() || ended(s.host) {
		return s.host.kill()
	}
	s.tell(control, "kill_request", struct{}{})
	return "the kernel was killed"
}

// keep freezes a copy of the kernel and keeps the files of Scratch. Whatever does
// not work is no error: going back is replay then.
func (c *checkpoints) keep(ctx context.Context, k *Kernel) {
	s := k.current()
	if k.trail.known || k.trail.lost || ended(s.host) || s.fell() != "" || ctx.Err() != nil {
		return
	}
	k.trail.known = true
	c.forget(ctx, s, func(m *mark) bool { return slices.Equal(m.cells, k.trail.cells) })
	m := &mark{trail: k.trail, why: c.off}
	if m.why == "" {
		c.freeze(ctx, s, m)
	}
	if ctx.Err() != nil && m.id == "" {
		k.trail.known = false // whoever has gone is no reason
		return
	}
	c.marks = append(c.marks, m)
}

// freeze makes the copy of m, and those of the files, or says in m why not.
func (c *checkpoints) freeze(ctx context.Context, s *session, m *mark) {
	if err := c.takeFiles(ctx, s, m); err != nil {
		m.why = err.Error()
		return
	}
	var reply struct {
		Checkpoint string
		Count      int `json:"execution_count"`
		Resident   int64
	}
	if m.why = c.ask(ctx, s, "checkpoint_request", map[string]string{"folder": c.folder}, &reply); m.why != "" {
		c.drop(m)
		return
	}
	m.id, m.count = reply.Checkpoint, reply.Count
	c.thin(ctx, s, m, reply.Resident)
}

// takeFiles keeps what Scratch holds. Where there is no room, older copies go.
func (c *checkpoints) takeFiles(ctx context.Context, s *session, m *mark) error {
	if c.copies == nil {
		return nil
	}
	var err error
	for {
		if m.files, err = c.copies.take(ctx); !errors.Is(err, errOverLimit) {
			return err
		}
		frozen := c.dispensable(m)
		if len(frozen) == 0 {
			return err
		}
		c.giveUp(ctx, s, frozen[0], "to make room for files")
	}
}

// back goes to the nearest mark that it can, or replays.
func (c *checkpoints) back(ctx context.Context, k *Kernel, cells []string) (back notebook.Restoration, known bool, err error) {
	s, why := k.current(), ""
	for _, m := range c.leading(cells) {
		if ended(s.host) {
			why = cmp.Or(why, "the kernel ended")
			break
		}
		problem := m.why
		if m.id != "" {
			problem = c.resume(ctx, s, m)
		}
		if ctx.Err() != nil {
			return back, false, reason(ctx)
		}
		if problem == "" {
			back = notebook.Restoration{Way: notebook.ByCheckpoint, Kept: len(m.cells), Executions: slices.Clone(m.ran), Why: why}
			if back.Kept == 0 && len(cells) > 0 {
				back.Way = notebook.ByReplay // from a copy of the empty session
			}
			return back, true, nil
		}
		why = cmp.Or(why, problem)
	}
	c.clear()
	back, known, err = c.replay.back(ctx, k, cells)
	c.mute = c.mute && err != nil
	back.Why = why
	return back, known, err
}

// leading returns the marks of states that the first of the cells made, most cells
// first.
func (c *checkpoints) leading(cells []string) []*mark {
	var all []*mark
	for _, m := range slices.Backward(c.marks) {
		if begin(cells, m.cells) {
			all = append(all, m)
		}
	}
	slices.SortStableFunc(all, func(a, b *mark) int { return len(b.cells) - len(a.cells) })
	return all
}

// resume makes the frozen copy of m the session again, and its files those of
// Scratch. It returns why that was not possible, or "".
func (c *checkpoints) resume(ctx context.Context, s *session, m *mark) string {
	var reply struct {
		Count int `json:"execution_count"`
	}
	if why := c.ask(ctx, s, "rollback_request", map[string]string{"checkpoint": m.id, "folder": c.folder}, &reply); why != "" {
		return why
	}
	s.rise()
	if reply.Count != m.count {
		c.off = fmt.Sprintf("a copy of the session counted %d cells, not %d", reply.Count, m.count)
		return c.off
	}
	if c.copies != nil { // only now: the session that has ended could still write there
		if err := c.copies.restore(ctx, m.files); err != nil {
			return err.Error()
		}
	}
	return ""
}

// ask sends a request of docs/checkpoints.md and reads the reply. It returns why
// there is no good one, or "". A kernel that does not answer is asked no more.
func (c *checkpoints) ask(ctx context.Context, s *session, request string, content, into any) string {
	body, err := json.Marshal(content)
	if err != nil {
		return err.Error()
	}
	if c.mute {
		return c.off
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.waits.frozen)
	defer cancel()
	// Not at once: of a copy that is being made, nobody would know.
	defer context.AfterFunc(ctx, func() { time.AfterFunc(s.waits.cancel, cancel) })()
	reply, err := s.ask(limited, Message{Channel: Control, Type: request, Content: body})
	if err != nil {
		if limited.Err() != nil && ctx.Err() == nil {
			c.mute, c.off = true, fmt.Sprintf("the kernel did not answer a %s for %v", request, s.waits.frozen)
			return c.off
		}
		return err.Error()
	}
	var problem struct{ Status, EName, EValue string }
	if err := json.Unmarshal(reply.Content, &problem); err != nil {
		return fmt.Sprintf("%s: %v", reply.Type, err)
	}
	if problem.Status == "ok" {
		if err := json.Unmarshal(reply.Content, into); err != nil {
			return fmt.Sprintf("%s: %v", reply.Type, err)
		}
		return ""
	}
	return cmp.Or(problem.EValue, problem.EName, "no reason was given")
}

// thin gives copies up until they are not too many and the kernel keeps to its
// budget with them: first those that the present trail has not come by, then the
// oldest; that of the empty session last of all, and not that of m, the newest.
// resident is more than they can hold, which is cheap to know.
func (c *checkpoints) thin(ctx context.Context, s *session, m *mark, resident int64) {
	frozen := c.dispensable(m)
	for len(frozen) >= mostFrozen {
		c.giveUp(ctx, s, frozen[0], "to save memory")
		frozen = frozen[1:]
	}
	if c.budget != 0 && resident <= c.budget {
		return
	}
	// What several hold is another's when one is given up: each time it is counted anew.
	for sum := c.count(ctx, s); len(frozen) > 0 && sum > c.budget; sum = c.count(ctx, s) {
		c.giveUp(ctx, s, frozen[0], "to save memory")
		frozen = frozen[1:]
	}
}

// dispensable returns the marks with a copy but for the newest, those first that can
// best be done without.
func (c *checkpoints) dispensable(newest *mark) []*mark {
	frozen := slices.DeleteFunc(slices.Clone(c.marks), func(m *mark) bool { return m.id == "" })
	rank := func(m *mark) int {
		switch {
		case len(m.cells) == 0:
			return 2
		case begin(newest.cells, m.cells):
			return 1
		}
		return 0
	}
	slices.SortStableFunc(frozen, func(a, b *mark) int { return rank(a) - rank(b) })
	return frozen
}

// count returns what the kernel holds with its copies, in bytes. It sets a budget
// that nobody has set.
func (c *checkpoints) count(ctx context.Context, s *session) (sum int64) {
	type held struct{ Bytes int64 }
	var reply struct {
		Live, Front held
		Checkpoints []held
		Available   int64
	}
	if c.ask(ctx, s, "checkpoints_request", struct{}{}, &reply) != "" {
		return 0 // they will be counted after the next
	}
	sum = reply.Live.Bytes + reply.Front.Bytes
	for _, h := range reply.Checkpoints {
		sum += h.Bytes
	}
	c.budget = cmp.Or(c.budget, (reply.Available+sum)/2)
	return sum
}

func (c *checkpoints) giveUp(ctx context.Context, s *session, m *mark, what string) {
	m.why = "its copy was given up " + what
	c.thaw(ctx, s, m)
}

// forget gives up the marks that match.
func (c *checkpoints) forget(ctx context.Context, s *session, match func(*mark) bool) {
	c.marks = slices.DeleteFunc(c.marks, func(m *mark) bool {
		if match(m) {
			c.thaw(ctx, s, m)
			return true
		}
		return false
	})
}

// thaw gives up the copy of a mark.
func (c *checkpoints) thaw(ctx context.Context, s *session, m *mark) {
	if m.id != "" {
		_ = c.ask(ctx, s, "drop_request", map[string][]string{"checkpoints": {m.id}}, &struct{}{}) // it costs memory, no more
	}
	c.drop(m)
}

func (c *checkpoints) drop(m *mark) {
	if m.id = ""; m.files != nil {
		c.copies.drop(m.files)
		m.files = nil
	}
}

// clear forgets all marks of a session that has ended.
func (c *checkpoints) clear() {
	for _, m := range c.marks {
		c.drop(m)
	}
	c.marks = nil
}

// leave gives all copies up: the kernel goes on without them.
func (c *checkpoints) leave(s *session) {
	ctx, cancel := context.WithTimeout(context.Background(), s.waits.cancel)
	defer cancel()
	c.forget(ctx, s, func(*mark) bool { return true })
}

func (c *checkpoints) close() {
	if c.copies != nil {
		_ = c.copies.close() // of our own; the next run in the folder removes what is left
	}
}
