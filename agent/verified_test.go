package agent_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"dsstar/agent"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// A conversation asks questions that build on each other, plays the model, and knows each answer:
// the digits of all questions so far, 1 for the first reading, 2 for the second. Only some
// questions leave open which is meant. The model may err in a cell, in a file, or in a derivation,
// by what is drawn. The cells of a question apart load all anew, so that what is open of those before
// is open for it, too.
type conversation struct {
	*rapid.T
	meant   map[int]string // by a person, of each question
	version int64          // of the data
	worlds  []*world       // of all runs so far, by the version of their data
	of      []int64

	mu    sync.Mutex
	draws map[string][]string // what roles do, in turn
}

var (
	asks      = regexp.MustCompile(`# Question\n\nQ(\d+)( open)?( file: save it as out.csv)?( apart)?.*`)
	asksCell  = regexp.MustCompile(`Branch (\d+\.2): `)
	rewritten = " Or not." // what an edit adds to a question
)

// answer is the right answer to a question that is asked with these words.
func (c *conversation) answer(n int, words, digit string) string {
	all := ""
	for i := 1; i < n; i++ {
		all += strconv.Itoa(i) + c.digit(i)
	}
	return all + strconv.Itoa(n) + digit + strings.Repeat("5", strings.Count(words, rewritten))
}

// digit is the reading of a question that is taken.
func (c *conversation) digit(n int) string {
	if meant, ok := c.meant[n]; ok {
		return meant
	}
	return "1"
}

// draw takes the next of what a role may do.
func (c *conversation) draw(role string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.draws[role]
	if len(all) == 0 {
		return ""
	}
	c.draws[role] = all[1:]
	return all[0]
}

func (c *conversation) Ask(ctx context.Context, r llm.Request) (llm.Reply, error) {
	if err := ctx.Err(); err != nil {
		return llm.Reply{}, err
	}
	if r.Role == "analyzer" {
		return llm.Reply{Text: "```python\nprint(\"a table\")\n```", Model: "m1", Finish: "stop"}, nil
	}
	m := asks.FindStringSubmatch(r.Messages[len(r.Messages)-1].Text)
	if m == nil {
		return llm.Reply{}, errors.New("no question in the request of the " + r.Role)
	}
	n, _ := strconv.Atoi(m[1])
	x, does := "x"+m[1], c.draw(r.Role)
	right := c.answer(n, m[0], c.digit(n))
	save := func(name string) string {
		if m[3] == "" {
			return ""
		}
		return "save(out.csv, " + name + ")\n"
	}
	bind := func(x, value string) string {
		if n == 1 || m[4] != "" {
			return fmt.Sprintf("%s = %q\n", x, value)
		}
		before := c.answer(n-1, "", c.digit(n-1))
		return fmt.Sprintf("%s = x%d\n%s += %q\n", x, n-1, x, strings.TrimPrefix(value, before))
	}
	python := func(code string) string { return "```python\n" + code + "\n```\n" }
	text := ""
	switch r.Role {
	case "solver":
		value := right
		if does == "wrong" {
			value += "9"
		}
		cell := bind(x, value) + save(x) + "print(" + x + ")"
		if does == "file" && m[3] != "" {
			cell = bind(x, value) + "save(out.csv, \"6\")\nprint(" + x + ")"
		}
		if m[2] != "" {
			text = "Reading: Which of 1 count in Q" + m[1] + ".\nOption 1: all\nOption 2: some\nTaken: 1\n" + isOpen + "\n\n"
		}
		text += "Step: Count.\n\n" + python(cell)
	case "judge", "branches":
		branch := bind("z", c.answer(n, m[0], "2")) + save("z") + "z"
		if does == "dies" {
			branch = "die()"
		}
		if text = yes + "\n\n" + python("print("+x+")"); does == "back" {
			text = bad + "\nWrong step: 1"
		}
		for _, asked := range asksCell.FindAllStringSubmatch(r.Messages[len(r.Messages)-1].Text, -1) {
			if does != "back" {
				text += "\n\nBranch " + asked[1] + "\nKeeps: 0\n\n" + python(branch)
			}
		}
	case "second":
		if does == "wrong" {
			right += "8"
		}
		text = python(fmt.Sprintf("s = %q\n%ss", right, save("s")))
	case "arbiter":
		text = does
	default:
		text = python("die()")
	}
	return llm.Reply{Text: text, Model: "m1", Finish: "stop"}, nil
}

// run goes on with a record, or begins one. It may be killed at an event, and is then read from
// what was saved there.
func (c *conversation) run(tr *record.Trajectory, question string) *record.Trajectory {
	kill := -1
	if rapid.IntRange(0, 2).Draw(c.T, "killed") == 0 {
		kill = rapid.IntRange(0, 12).Draw(c.T, "at")
	}
	for again := true; again; kill = -1 {
		tr, again = killed(c.T, kill, func(s *stage) {
			s.resume, s.config.Model, s.config.MaxRounds = tr, c, 4
			s.task.Question, s.task.Guidelines, s.task.Files = question, "", c.files()
			c.worlds, c.of = append(c.worlds, s.world), append(c.of, c.version)
			s.config.Observe = func(_ agent.Event, tr *record.Trajectory) error {
				c.check(tr)
				return nil
			}
		})
		c.check(tr)
	}
	return tr
}

// files are the data as they are now.
func (c *conversation) files() []record.File {
	all := filesOf("a.csv")
	all[0].Size = c.version
	return all
}

// check holds a record that says it is verified to what was asked, run and chosen.
func (c *conversation) check(tr *record.Trajectory) {
	if tr == nil || len(tr.Edits()) > 0 || tr.DataChanges(c.files()) != "" {
		return // it says that
	}
	for k := range tr.Questions {
		part := tr.Part(k)
		if !part.Verified() {
			continue
		}
		m := asks.FindStringSubmatch("# Question\n\n" + part.Task.Question)
		n, _ := strconv.Atoi(m[1])
		want := c.answer(n, part.Task.Question, c.digit(n))
		if part.Answer() != want {
			c.Errorf("question %d: %q is verified, and %q is right", n, part.Answer(), want)
		}
		if m[3] != "" && (len(part.Final.Files) != 1 || part.Final.Files[0].Text != want) {
			c.Errorf("question %d: %+v are verified, and %q is right", n, part.Final.Files, want)
		}
		_, apart := c.meant[n] // who chose for a question apart has said what it takes of those before
		apart = apart && m[4] != ""
		for i, q := range tr.Questions[:k+1] {
			if _, chosen := c.meant[i+1]; strings.Contains(q.Text, "open") && !chosen && !apart {
				c.Errorf("question %d is verified, and what question %d means is open", n, i+1)
			}
		}
		if !c.ran(part.Cells()[1:]) {
			c.Errorf("question %d is verified, and no fresh session has run its cells on these data", n)
		}
	}
}

// ran reports whether a fresh session has run the cells on the present data.
func (c *conversation) ran(cells []string) bool {
	for i, w := range c.worlds {
		for _, s := range w.of(agent.Prove) {
			if c.of[i] == c.version && strings.Contains(strings.Join(s.ran, "\x00"), strings.Join(cells, "\x00")) {
				return true
			}
		}
	}
	return false
}

// act does what a person may do with a notebook.
func (c *conversation) act(tr *record.Trajectory) (*record.Trajectory, bool) {
	n := len(tr.Questions)
	switch rapid.SampledFrom([]string{"ask", "edit", "choose", "resume", "data"}).Draw(c.T, "act") {
	case "ask":
		if tr.Ask(c.question(n+1), "") != nil {
			return tr, true
		}
	case "edit":
		changed, err := edited(c.T, tr, c.edit)
		if err != nil {
			return tr, false // it is refused
		}
		tr = changed
	case "choose":
		k := rapid.IntRange(0, n-1).Draw(c.T, "question")
		for i, r := range tr.Part(k).Readings {
			if !r.Open() || !r.Matters() || len(r.Options) < 2 || !strings.Contains(r.Point, "of 1") || len(tr.Later) > 0 {
				continue
			}
			option := rapid.IntRange(0, 1).Draw(c.T, "option")
			c.meant[k+1] = string("12"[option])
			must(0, agent.Choose(tr, k, i, option))
			break
		}
	case "data":
		c.version++
	}
	c.check(tr)
	return c.run(tr, ""), true
}

// question draws the n-th question.
func (c *conversation) question(n int) string {
	q := fmt.Sprintf("Q%d", n)
	if rapid.IntRange(0, 2).Draw(c.T, "open") == 0 {
		q += " open"
	}
	if rapid.IntRange(0, 2).Draw(c.T, "file") == 0 {
		q += " file: save it as out.csv"
	}
	if n > 1 && rapid.IntRange(0, 2).Draw(c.T, "apart") == 0 {
		q += " apart"
	}
	return q + "."
}

// edit changes a value of a cell, or anything of a notebook.
func (c *conversation) edit(_ reporter, nb *notebook.Notebook) {
	if rapid.Bool().Draw(c.T, "value") {
		i := rapid.IntRange(0, len(nb.Cells)-1).Draw(c.T, "cell")
		if nb.Cells[i].Type == notebook.Code && !strings.HasPrefix(nb.Cells[i].Source, "data_dir") {
			nb.Cells[i].Source = strings.Replace(nb.Cells[i].Source, `1"`, `7"`, 1)
		}
		return
	}
	(&editor{T: c.T}).change(nb)
}

// TestVerifiedIsProved: no sequence of questions, edits, choices, new data, kills and resumes ends
// with an answer that is verified, unless its own cells were proved on the present data, a
// derivation of its own agreed in words and files, and nothing is open of what it, or a question
// before it, means.
func TestVerifiedIsProved(t *testing.T) {
	once(t)
	verified := 0
	rapid.Check(t, func(t *rapid.T) {
		c := &conversation{T: t, meant: map[int]string{}, version: 1, draws: map[string][]string{}}
		for _, role := range []struct {
			name string
			does []string
		}{
			{"solver", []string{"", "", "", "wrong", "file"}}, {"judge", []string{"", "", "", "back", "dies"}},
			{"branches", []string{"", "dies"}}, {"second", []string{"", "", "", "wrong"}},
			{"arbiter", []string{"Ruling: same\nReason: x", "Ruling: undecided\nReason: x",
				"Ruling: first\nReason: x\nWrong step: 1", "Ruling: second\nReason: x\n```python\ns = 1\ns\n```"}},
		} {
			c.draws[role.name] = rapid.SliceOfN(rapid.SampledFrom(role.does), 0, 9).Draw(t, role.name)
		}
		tr, going := c.run(nil, c.question(1)), true
		for range rapid.IntRange(0, 4).Draw(t, "acts") {
			if tr, going = c.act(tr); !going {
				return
			}
		}
		if tr.Verified() {
			verified++
		}
	})
	if verified == 0 {
		t.Error("nothing was ever verified")
	}
	t.Logf("%d verified", verified)
}
