package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"dsstar/agent/ask"
	"dsstar/agent/brief"
	"dsstar/agent/describe/profile"
	"dsstar/agent/journal"
	"dsstar/agent/memory"
	"dsstar/agent/memory/lesson"
	"dsstar/agent/page"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/lazy"
	"dsstar/notebook/lists"
	"dsstar/prompts"
)

// maxLearned bounds the facts, and maxCut the functions, that one answer may leave.
const (
	maxLearned = 5
	maxCut     = 3
)

// learnFrom asks what a verified answer leaves for other questions, and admits the functions that
// give the values of the run in a fresh process.
func (r *run) learnFrom(ctx context.Context) error {
	if !r.cfg.Learn || !r.t.Verified() || len(r.t.Later) > 0 || r.t.Learned != nil {
		return nil
	}
	proposed, err := ask.Role(ctx, r.asker, ask.Request{Role: "learner", Subject: "the answer",
		Words: func() []prompts.Part {
			return append(r.shared(), prompts.Learner{Answer: r.t.Answer()})
		}}, leaves)
	switch {
	case ctx.Err() != nil:
		return cmp.Or(err, ctx.Err())
	case err != nil: // the answer is verified all the same
		r.t.Learned = &record.Learned{LeftOut: []string{err.Error()}}
		return r.Warn("no fact and no function was learned: " + err.Error())
	}
	learned := &record.Learned{LeftOut: proposed.Problems,
		Facts: proposed.Facts[:min(len(proposed.Facts), maxLearned)]}
	for _, tool := range proposed.Tools[:min(len(proposed.Tools), maxCut)] {
		reason, err := r.fault(ctx, learned.Tools, tool)
		if err != nil {
			return err
		}
		if reason == "" {
			learned.Tools = append(learned.Tools, tool)
		} else {
			learned.LeftOut = append(learned.LeftOut, fmt.Sprintf("the function %s: %s", tool.Name, reason))
		}
	}
	r.t.Learned = learned
	return r.observe(Event{Kind: Learnt, Text: fmt.Sprintf("%d facts, %d functions",
		len(learned.Facts), len(learned.Tools))})
}

// leaves reads facts and functions for the memory of the data; none of either is an answer, too.
var leaves = ask.Format[*lesson.Lesson]{
	Rule: "Reply with facts as lines `- fact — source: where it stands` and one ```python block for " +
		"each function with its imports and cases, or with the word none.",
	Parse: func(text string) (*lesson.Lesson, error) {
		functions := lists.Map(ask.Blocks(text), func(b ask.Block) string { return b.Code })
		l := lesson.Propose(ask.Prose(text), functions)
		if lower := strings.ToLower(text); len(l.Facts)+len(l.Tools)+len(l.Problems) == 0 &&
			!strings.Contains(lower, "none") && !strings.Contains(lower, "nothing") {
			return nil, errors.New("it has neither facts nor functions")
		}
		return l, nil
	},
}

// fault returns why a function is not admitted beside others, or "".
func (r *run) fault(ctx context.Context, known []lesson.Tool, tool lesson.Tool) (string, error) {
	if r.t.Recalled != nil {
		known = slices.Concat(r.t.Recalled.Tools, known)
	}
	if slices.ContainsFunc(known, func(t lesson.Tool) bool { return t.Name == tool.Name }) {
		return "there is one of this name", nil
	}
	if reason := r.unseenValue(tool.Test); reason != "" {
		return reason, nil
	}
	module := lesson.Module(lesson.Needed(slices.Concat(known, []lesson.Tool{tool}),
		tool.Name+"\n"+tool.Test))
	return r.toolFault(ctx, module, tool.Test)
}

// toolFault is [ToolFault] on the data of the run.
func (r *run) toolFault(ctx context.Context, module, test string) (string, error) {
	return journal.Once(ctx, r.t.Journal, "function", []any{r.digest, module, test},
		func(ctx context.Context) (string, error) {
			defer r.kernel.Start()()
			return ToolFault(ctx, r.cfg.RunScript, r.elsewhere().Task, module, test)
		})
}

var (
	aCase  = lazy.Regexp(`(?m)^assert (.*==)?(.*)$`)
	values = lazy.Regexp(`-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|'[^']*'|"[^"]*"`)
)

// unseenValue returns which value of the cases the run has not printed, in words, or "". Values of
// the model's own would prove nothing.
func (r *run) unseenValue(test string) string {
	printed := r.printed() + r.t.Answer()
	printed += strings.ReplaceAll(printed, ",", "") // of thousands
	for _, m := range aCase().FindAllStringSubmatch(test, -1) {
		all := values().FindAllString(m[2], -1)
		if m[1] == "" || all == nil {
			return "a case compares with no value: " + brief.OneLine(m[0])
		}
		for _, v := range all {
			if !strings.Contains(printed, strings.Trim(v, `'"`)) {
				return "the run has not printed " + v
			}
		}
	}
	return ""
}

// toolPatience is the time limit for the cases of a function.
const toolPatience = 5 * time.Minute

// ToolFault runs the cases of a function of a module in plain Python, in a fresh process and an
// empty folder with the data of the task, whose path is absolute. It returns why they do not hold,
// or "". The error is one that no code can cause.
func ToolFault(ctx context.Context, run RunScript, task record.Task, module, test string) (string, error) {
	bare := record.New(task, record.Question{})
	end := rand.Text() // a script that ends by itself, as with exit, has run no case
	script := bare.Script() + "\n\n" + module + "\n\n" + test + "\n\nprint(" + strconv.Quote(end) + ")\n"
	x, err := runAlone(ctx, run, script, toolPatience)
	if err != nil {
		return "", err
	}
	reason := lastWords(x)
	if x.Status == notebook.OK {
		if strings.HasSuffix(strings.TrimSpace(x.Stdout()), end) {
			return "", nil
		}
		reason = "the script ended before its end"
	}
	return brief.Clip("its cases do not hold: "+reason, 300), nil
}

const (
	maxFacts = 3000 // bytes of facts that a request shows; a rule may hold for questions in other words
	maxTools = 8    // functions that a session has, besides those that they call

	// nearEnough is the least nearness of a function to the question, as a share of the nearest one's.
	// One that is farther rarely serves, and costs tokens with every question.
	nearEnough = 0.5
)

// RecallFor returns what a memory has for a question: the nearest verified question, the facts, nearest
// first, the nearest functions, in the memory's order, and those that the cells of the nearest
// question use. It returns nil if the memory is empty. Functions without cases are left out.
func RecallFor(m *memory.Memory, question string) *record.Recalled {
	if m == nil || len(m.Facts)+len(m.Tools)+len(m.Questions) == 0 {
		return nil
	}
	r := &record.Recalled{Example: exampleFor(m, question)}
	texts := lists.Map(m.Facts, lesson.Fact.String)
	room := maxFacts
	order, _ := profile.Near(question, texts, 0)
	for _, i := range order {
		if size := len(texts[i]) + 1; size <= room {
			r.Facts, room = append(r.Facts, m.Facts[i]), room-size
		}
	}
	tested := slices.DeleteFunc(slices.Clone(m.Tools), func(t lesson.Tool) bool { return t.Test == "" })
	withQuestion := func(t lesson.Tool) string { return t.Head() + "\n" + t.Test }
	names := ""
	order, some := profile.Near(question, lists.Map(tested, withQuestion), nearEnough)
	for _, i := range order[:min(some, maxTools)] {
		names += tested[i].Name + " "
	}
	if r.Example != nil {
		names += r.Example.Cells // it may use others
	}
	r.Tools = lesson.Needed(tested, names)
	return r
}

// exampleFor returns the verified question of a memory that is nearest to another one. It returns nil
// if none is near, or of the near ones the notebooks are not as they were, or a person's note or choice
// decided the answers.
func exampleFor(m *memory.Memory, question string) *record.Example {
	chosen := func(r record.Reading) bool { return r.ByUser }
	for _, q := range m.Near(question, 0.3, 10) { // each costs reading a notebook
		nb, err := notebook.Open(filepath.Join(filepath.Dir(m.Dir), q.Notebook))
		if err != nil {
			continue
		}
		t, err := page.Read(nb)
		if err == nil && t.Answer() == q.Answer && t.Earlier() == 0 && len(t.Edits())+len(t.Variables) == 0 &&
			!t.Method.Script && len(t.Notes) == 0 && !slices.ContainsFunc(t.Readings, chosen) &&
			t.Verified() && !t.Inconclusive() {
			cells := strings.Join(t.OwnCells(), "\n\n")
			return &record.Example{Question: q.Question, Form: q.Guidelines, Cells: cells}
		}
	}
	return nil
}

// shownMemory returns the facts, a line each, and the heads of the functions.
func shownMemory(r *record.Recalled) (facts, functions string) {
	if r == nil {
		return "", ""
	}
	facts = strings.Join(lists.Map(r.Facts, lesson.Fact.String), "\n")
	for _, t := range r.Tools {
		if !t.Binds {
			functions += t.Head() + "\n\n"
		}
	}
	return strings.TrimSpace(facts), strings.TrimSpace(functions)
}

// withoutMemory takes the memory out of a request, for those who must not rely on it: who checks what
// was made with it.
func withoutMemory(parts []prompts.Part) {
	for i, p := range parts {
		if context, ok := p.(prompts.Context); ok {
			context.Facts, context.Functions = "", ""
			parts[i] = context
		}
	}
}

// unaided returns the cells that the rounds of this question build on, set-up and the cells of
// earlier questions, without the functions of memory unless cells of earlier questions use them.
func unaided(t *record.Trajectory) record.Chain {
	c := t.Chain()
	c.Steps = nil
	if n := len(c.SetUp) - 1; t.Earlier() == 0 && strings.HasPrefix(c.SetUp[n], record.ToolsComment) {
		binds := slices.DeleteFunc(slices.Clone(t.Recalled.Tools), func(f lesson.Tool) bool { return !f.Binds })
		if c.SetUp = c.SetUp[:n]; len(binds) > 0 {
			c.SetUp = append(c.SetUp, record.ToolsComment+"\n"+lesson.Module(binds))
		}
	}
	return c
}
