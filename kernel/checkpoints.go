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
	frozenWait    = 15 * time.Second     // for the kernel to freeze a copy or to go on from one
	defaultCopies = 1 << 30              // bytes of files that are kept
)

// checkpoints goes back to frozen copies of the session, and where there is none
// by replay. It is for one Kernel.
type checkpoints struct {
	replay
	marks  []*mark // the oldest first
	copies *copies // of the files in Scratch; nil if there is no such folder
	folder string  // Scratch, as processes see it
	budget int64   // bytes that the kernel may hold with its copies; 0 until it is known
	off    string  // why no more copies are made in this session; ""
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
	case !s.freezes():
		return replay{}
	}
	c := &checkpoints{budget: o.MaxMemory}
	if o.Scratch != "" {
		store := cmp.Or(o.Copies, filepath.Join(os.TempDir(), "dsstar-copies-"+rand.Text()))
		var err error
		if c.copies, err = newCopies(o.Scratch, o.Outputs.Folder, store, cmp.Or(o.MaxCopies, defaultCopies)); err != nil {
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
	if !s.freezes() || ended(s.host) {
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
	c.marks = append(c.marks, m)
	if m.why != "" {
		return
	}
	if c.copies != nil {
		var err error
		if m.files, err = c.copies.take(ctx); err != nil {
			m.why = err.Error()
			return
		}
	}
	var reply struct {
		Checkpoint string
		Count      int `json:"execution_count"`
		Resident   int64
	}
	if m.why = c.ask(ctx, s, "checkpoint_request", struct{}{}, &reply); m.why != "" {
		c.drop(m)
		return
	}
	m.id, m.count = reply.Checkpoint, reply.Count
	c.thin(ctx, s, reply.Resident)
}

// back goes to the nearest mark that it can, or replays.
func (c *checkpoints) back(ctx context.Context, k *Kernel, cells []string) (notebook.Restoration, error) {
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
			return notebook.Restoration{}, reason(ctx)
		}
		if problem == "" {
			back := notebook.Restoration{Way: notebook.ByCheckpoint, Kept: len(m.cells), Executions: slices.Clone(m.ran), Why: why}
			if back.Kept == 0 && len(cells) > 0 {
				back.Way = notebook.ByReplay // from a copy of the empty session
			}
			return back, nil
		}
		why = cmp.Or(why, problem)
	}
	c.clear()
	back, err := c.replay.back(ctx, k, cells)
	back.Why = why
	return back, err
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
	ctx, cancel := context.WithTimeout(ctx, frozenWait)
	defer cancel()
	reply, err := s.ask(ctx, Message{Channel: Control, Type: request, Content: body})
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			c.off = fmt.Sprintf("the kernel did not answer a %s for %v", request, frozenWait)
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
// oldest; that of the empty session last of all. resident is more than they can
// hold, which is cheap to know.
func (c *checkpoints) thin(ctx context.Context, s *session, resident int64) {
	frozen := c.dispensable()
	for len(frozen) > mostFrozen {
		c.giveUp(ctx, s, frozen[0])
		frozen = frozen[1:]
	}
	if c.budget != 0 && resident <= c.budget {
		return
	}
	sum, bytes := c.count(ctx, s)
	for len(frozen) > 1 && sum > c.budget {
		sum -= bytes[frozen[0].id]
		c.giveUp(ctx, s, frozen[0])
		frozen = frozen[1:]
	}
}

// dispensable returns the marks with a copy, those first that can best be done without.
func (c *checkpoints) dispensable() []*mark {
	frozen := slices.DeleteFunc(slices.Clone(c.marks), func(m *mark) bool { return m.id == "" })
	last := frozen[len(frozen)-1].cells
	rank := func(m *mark) int {
		switch {
		case len(m.cells) == 0:
			return 2
		case begin(last, m.cells):
			return 1
		}
		return 0
	}
	slices.SortStableFunc(frozen, func(a, b *mark) int { return rank(a) - rank(b) })
	return frozen
}

// count returns what the kernel holds with its copies, and each of these, in bytes
// of its own and its share of what several hold. It sets a budget that nobody has.
func (c *checkpoints) count(ctx context.Context, s *session) (sum int64, bytes map[string]int64) {
	type held struct {
		Checkpoint string
		Bytes      int64
	}
	var reply struct {
		Live, Front held
		Checkpoints []held
		Available   int64
	}
	if c.ask(ctx, s, "checkpoints_request", struct{}{}, &reply) != "" {
		return 0, nil // they will be counted after the next
	}
	sum, bytes = reply.Live.Bytes+reply.Front.Bytes, map[string]int64{}
	for _, h := range reply.Checkpoints {
		bytes[h.Checkpoint] = h.Bytes
		sum += h.Bytes
	}
	c.budget = cmp.Or(c.budget, (reply.Available+sum)/2)
	return sum, bytes
}

func (c *checkpoints) giveUp(ctx context.Context, s *session, m *mark) {
	m.why = "its copy was given up to save memory"
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
