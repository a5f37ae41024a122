package agent_test

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dsstar/agent"
	"dsstar/agent/llm"
	"dsstar/agent/page"
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
	meant   map[int]string   // by a person, of each question
	version int64            // of the data
	worlds  map[*world]int64 // of all runs so far, with the version of their data
	does    func(llm.Request) (string, bool)
}

// What roles do: what is right, "", more often than not.
var mistakes = map[string][]string{"solver": {"", "", "", "wrong", "file"}, "judge": {"", "", "", "back", "dies"},
	"branches": {"", "dies"}, "second": {"", "", "", "8"},
	"arbiter": {"Ruling: same\nReason: x", "Ruling: undecided\nReason: x",
		"Ruling: first\nReason: x\nWrong step: 1", "Ruling: second\nReason: x\n" + python("s = 1\ns")}}

var (
	asks     = regexp.MustCompile(`# Question\n\nQ(\d+)( open)?( file: save it as out.csv)?( apart)?.*`)
	asksCell = regexp.MustCompile(`Branch (\d+\.2): `)
)

// answer is the right answer to a question that is asked with these words.
func (c *conversation) answer(n int, words, digit string) string {
	all := ""
	for i := 1; i < n; i++ {
		all += strconv.Itoa(i) + cmp.Or(c.meant[i], "1")
	}
	return all + strconv.Itoa(n) + digit + strings.Repeat("5", strings.Count(words, rewritten))
}

func (c *conversation) says(r llm.Request) (text string, ok bool) {
	m := asks.FindStringSubmatch(lastOf(r))
	if m == nil {
		return python(`print("a table")`), r.Role == "analyzer"
	}
	n, x := must(strconv.Atoi(m[1])), "x"+m[1]
	does, _ := c.does(r)
	right := c.answer(n, m[0], cmp.Or(c.meant[n], "1"))
	save := func(what string) string { return strings.Repeat("save(out.csv, "+what+")\n", min(len(m[3]), 1)) }
	bind := func(x, value string) string {
		if n == 1 || m[4] != "" {
			return fmt.Sprintf("%s = %q\n", x, value)
		}
		before := c.answer(n-1, "", cmp.Or(c.meant[n-1], "1"))
		return fmt.Sprintf("%s = x%d\n%s += %q\n", x, n-1, x, strings.TrimPrefix(value, before))
	}
	switch {
	case r.Role == "solver":
		file := cmp.Or(map[string]string{"file": `"6"`}[does], x)
		if does == "wrong" {
			right += "9"
		}
		if m[2] != "" {
			text = "Reading: Which of 1 count in Q" + m[1] + ".\nOption 1: all\nOption 2: some\nTaken: 1\n" + isOpen + "\n\n"
		}
		text += "Step: Count.\n\n" + python(bind(x, right)+save(file)+"print("+x+")")
	case does == "back":
		text = bad
	case r.Role == "judge", r.Role == "branches":
		code := cmp.Or(map[string]string{"dies": "die()"}[does], bind("z", c.answer(n, m[0], "2"))+save("z")+"z")
		text = yes + "\n\n" + python("print("+x+")") + "\n\n"
		for _, asked := range asksCell.FindAllStringSubmatch(lastOf(r), -1) {
			text += branch(asked[1], 0, code)
		}
	case r.Role == "second":
		text = python(fmt.Sprintf("s = %q\n%ss", right+does, save("s")))
	case r.Role == "arbiter":
		text = does
	default:
		text = python("die()")
	}
	return text, true
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
			s.resume, s.model.says, s.config.MaxRounds = tr, c.says, 4
			s.task.Question, s.task.Guidelines, s.task.Files = question, "", c.files()
			c.worlds[s.world] = c.version
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
func (c *conversation) files() []record.File { return []record.File{{Name: "a.csv", Size: c.version}} }

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
		words := part.Task.Question
		n := must(strconv.Atoi(words[1:2])) // it may be in place of one without an answer
		want := c.answer(n, words, cmp.Or(c.meant[n], "1"))
		if files := part.Final.Files; part.Answer() != want || strings.Contains(words, "file") && (len(files) != 1 || files[0].Text != want) {
			c.Errorf("question %d: %q with %+v is verified, and %q is right", n, part.Answer(), files, want)
		}
		// who chose for a question apart has said what it takes of those before
		apart := strings.Contains(words, "apart") && c.meant[n] != ""
		for i, q := range tr.Questions[:k+1] {
			if strings.Contains(q.Text, "open") && c.meant[i+1] == "" && !apart {
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
	for w, version := range c.worlds {
		for _, s := range w.of(agent.Prove) {
			if version == c.version && strings.Contains(strings.Join(s.ran, "\x00"), strings.Join(cells, "\x00")) {
				return true
			}
		}
	}
	return false
}

// act does what a person may do with a notebook.
func (c *conversation) act(tr *record.Trajectory) (*record.Trajectory, bool) {
	switch rapid.SampledFrom([]string{"ask", "edit", "choose", "resume", "data"}).Draw(c.T, "act") {
	case "ask":
		if tr.Ask(c.question(len(tr.Questions)+1), "") != nil {
			return tr, true
		}
	case "edit":
		changed, err := edited(tr, c.edit)
		if err != nil {
			return tr, false // it is refused
		}
		tr = changed
	case "choose":
		if k, option := choose(c.T, tr); k >= 0 {
			c.meant[k+1] = string("12"[option])
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
	for _, more := range []string{" open", " file: save it as out.csv", " apart"} {
		if (n > 1 || more != " apart") && rapid.IntRange(0, 2).Draw(c.T, more) == 0 {
			q += more
		}
	}
	return q + "."
}

// edit changes a value of a cell, or anything of a notebook.
func (c *conversation) edit(nb *notebook.Notebook) {
	if !rapid.Bool().Draw(c.T, "value") {
		(&editor{T: c.T}).change(nb)
		return
	}
	i := rapid.IntRange(0, len(nb.Cells)-1).Draw(c.T, "cell")
	if nb.Cells[i].Type == notebook.Code && !strings.HasPrefix(nb.Cells[i].Source, "data_dir") {
		nb.Cells[i].Source = strings.Replace(nb.Cells[i].Source, `1"`, `7"`, 1)
	}
}

// TestVerifiedIsProved: no sequence of questions, edits, choices, new data, kills and resumes ends
// with an answer that is verified, unless its own cells were proved on the present data, a
// derivation of its own agreed in words and files, and nothing is open of what it, or a question
// before it, means.
func TestVerifiedIsProved(t *testing.T) {
	verified := 0
	rapid.Check(t, func(t *rapid.T) {
		c := &conversation{T: t, meant: map[int]string{}, version: 1, worlds: map[*world]int64{},
			does: func(llm.Request) (string, bool) { return "", true }}
		if rapid.Bool().Draw(t, "errs") {
			c.does = anyOf(rapid.Uint64().Draw(t, "seed"), mistakes)
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
}

// A listener measures the requests to a model.
type listener struct {
	llm.Model
	before       []string // whole texts of the requests so far
	bytes, alike int      // of all requests, and of those what one before began with
	took         time.Duration
}

func (l *listener) Ask(ctx context.Context, r llm.Request) (llm.Reply, error) {
	text, most, began := "", 0, processor()
	for _, m := range r.Messages {
		text += m.Text + "\n"
	}
	for _, b := range l.before {
		n := 0
		for n < min(len(b), len(text)) && b[n] == text[n] {
			n++
		}
		most = max(most, n)
	}
	l.before = append(l.before, text)
	l.bytes, l.alike, l.took = l.bytes+len(text), l.alike+most, l.took+processor()-began
	return l.Model.Ask(ctx, r)
}

// processor returns the processor time of the process.
func processor() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkConversation asks 50 questions that build on each other, and saves the notebook at every
// event, as dsstar does. It reports the processor time and the tokens of a question, the share of all
// requests that a provider can cache as the beginning of one before, and the size of the notebook.
func BenchmarkConversation(b *testing.B) {
	const questions = 50
	for b.Loop() {
		heard, saved, began := &listener{}, 0, processor()
		stage := func(s *stage) {
			s.quick, heard.Model = true, s.config.Model
			s.config.Model = heard
			s.config.Observe = func(e agent.Event, tr *record.Trajectory) error {
				if !e.Before {
					nb := page.Draw(tr)
					record.Key("k").Seal(nb)
					saved = len(must(nb.Encode()))
				}
				return nil
			}
		}
		tr := play(b, simple, largeData, stage).noError(b).Trajectory
		for n := 2; n <= questions; n++ {
			tr = readAgain(tr)
			must(0, tr.Ask(fmt.Sprintf("And %d?", n), ""))
			cell := fmt.Sprintf("b = x\nb += \"%d%s\"\n%sprint(b)", n, strings.Repeat(" printed", 90),
				strings.Repeat("# A line of code.\n", 30))
			tr = goOn(b, onward.with(script{"cell": cell}), tr, largeData, stage).noError(b).Trajectory
		}
		b.ReportMetric(float64(saved), "notebook-bytes")
		b.ReportMetric((processor()-began-heard.took).Seconds()/questions, "s/question")
		b.ReportMetric(float64(heard.bytes)/4/questions, "tokens/question")
		b.ReportMetric(float64(heard.alike)/float64(heard.bytes), "cacheable")
	}
}
