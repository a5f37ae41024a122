package ui

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/clipperhouse/displaywidth"

	"dsstar/agent"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// A stage is a Progress with a clock that the test sets.
type stage struct {
	*Progress
	t     *record.Trajectory
	clock time.Time
}

// newProgress is New for a terminal of 80 columns.
func newProgress(w io.Writer, o Options) *Progress {
	o.Size = func() (int, int) { return 80, 24 }
	return New(w, o)
}

// newStage returns a stage that draws nothing by itself.
func newStage(files ...string) *stage {
	s := &stage{t: record.New(record.Task{}, record.Question{}), clock: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	for _, f := range files {
		s.t.Task.Files = append(s.t.Task.Files, record.File{Name: f})
	}
	s.Progress = &Progress{now: func() time.Time { return s.clock }}
	s.begun = s.clock
	s.screen = &Screen{W: io.Discard, Live: true, View: s.picture,
		Size: func() (int, int) { return 60, 24 }}
	return s
}

func (s *stage) happens(e agent.Event) { s.Event(e, s.t) }

func (s *stage) passes(seconds int) { s.clock = s.clock.Add(time.Duration(seconds) * time.Second) }

func (s *stage) shown(columns int) string {
	return strings.Join(s.picture(columns, 24), "\n") + "\n"
}

// plan adds a round with its step.
func (s *stage) plan(step string) {
	s.t.Rounds = append(s.t.Rounds, record.Round{Step: step})
	n := len(s.t.Rounds)
	s.happens(agent.Event{Kind: agent.Planned, Round: n, Step: n, Text: step})
}

func (s *stage) judge(v record.Verdict) {
	s.t.Rounds[len(s.t.Rounds)-1].Verdict = &v
	s.happens(agent.Event{Kind: agent.Judged, Text: v.Reason})
}

func (s *stage) spend(calls, in, cached, out int, cost float64) {
	s.t.Usage = record.Usage{Calls: calls,
		Usage: llm.Usage{InputTokens: in, CachedTokens: cached, OutputTokens: out}}
	s.t.Cost = nil
	if cost > 0 {
		s.t.Cost = &cost
	}
}

func printedOut(text string) notebook.Output {
	return notebook.Output{Type: notebook.Stream, Name: "stdout", Text: text}
}

// said is a reply so far.
func said(text string) func() string { return func() string { return text } }

// script takes the stage through a round, and calls see at each moment.
func script(s *stage, see func(moment string)) {
	s.happens(agent.Event{Kind: agent.Started, Text: "Python 3.13"})
	s.Stream("analyzer", "sales.csv", nil)
	s.Stream("analyzer", "sales.csv",
		said("```python\nimport pandas as pd\nprint(pd.read_csv('data/sales.csv').head())"))
	s.spend(1, 812, 0, 95, 0)
	s.passes(4)
	s.happens(agent.Event{Kind: agent.Described, Text: "notes.md"})
	see("describing")
	s.happens(agent.Event{Kind: agent.Described, Text: "sales.csv"})
	s.happens(agent.Event{Kind: agent.Described, Text: "stores of the whole country.xlsx"})
	s.spend(4, 5480, 2048, 654, 0.0123)
	see("waiting")
	s.Stream("planner", "round 1", nil)
	s.passes(12)
	s.Stream("planner", "round 1", said("Step:"))
	see("asking")
	s.plan("Load the sales, keep those of last year and add them up for each of the stores, " +
		"whatever their name.")
	s.Stream("coder", "round 1", nil)
	s.Stream("coder", "round 1", said("The cell:\n\n```python\nimport pandas as pd\n\n"+
		"sales = pd.read_csv('data/sales.csv')\nfor year in"))
	s.passes(3)
	see("writing")
	s.Cell("import pandas as pd\nsales = pd.read_csv('data/sales.csv')\nfor year in years:\n" +
		"\tprint(year)\n\tadd(year)\n\nshow()\nplot()")
	for _, text := range []string{"2023\n2024\n", "\x1b[32mloading  10%\rloading  90%", "\x1b[0m\r"} {
		s.Output(printedOut(text))
	}
	s.Output(notebook.Output{Type: notebook.DisplayData,
		Data: notebook.MIMEBundle{"image/png": "…", "text/plain": "<Figure>"}})
	s.passes(70)
	see("running")
	s.happens(agent.Event{Kind: agent.Ran, Try: 1, Execution: &notebook.Execution{Status: notebook.OK}})
	s.spend(26, 1_234_567, 812_000, 24_650, 12.345)
	s.judge(record.Verdict{Reason: "The sales of last year are added up, but nothing says which sold most."})
	s.t.Rounds[0].Route = &record.Route{Back: 1}
	s.happens(agent.Event{Kind: agent.Routed})
	s.Stream("planner", "round 2", nil)
	s.Stream("planner", "round 2", said("Step: rank the stores"))
	s.passes(3600)
	see("planning")
	s.happens(agent.Event{Kind: agent.Proving})
	see("proving")
	s.happens(agent.Event{Kind: agent.Ended})
	see("ended")
}

// TestProgressView: at each moment the view shows what happens, and the last lines of streamed
// text.
func TestProgressView(t *testing.T) {
	s := newStage("notes.md", "sales.csv", "stores of the whole country.xlsx")
	got := map[string]string{}
	script(s, func(moment string) { got[moment] = s.shown(60) })
	for moment, want := range map[string][]string{
		"describing": {"files    1 of 3 described", "│ print(", "describing the files, 0s", "4s       1 call"},
		"waiting":    {"waiting for the kernel"},
		"asking":     {"plan     │ Step:", "asking the planner, 12s"},
		"writing":    {"round 1  step 1: Load", "         │ import pandas as pd\n", "         │ for year in\n"},
		"running": {"         │     print(year)\n", "output   │ 2023\n", "│ loading  90%\n", "│ [image]\n",
			"running the cell, 1m10s", "4 calls, 5.5k in (2.0k cached), 654 out, ~$0.012"},
		"planning": {"round 1", "plan     │ Step: rank", "1h0m0s", "$12.35"},
		"proving":  {"proving: "},
		"ended":    {"\n"},
	} {
		for _, part := range want {
			if !strings.Contains(got[moment], part) {
				t.Errorf("%s: no %q in\n%s", moment, part, got[moment])
			}
		}
	}
	if strings.Contains(got["running"], "import pandas") || strings.Contains(got["proving"], "output") {
		t.Errorf("%q", got)
	}
}

// TestProgressFits: at every size of the terminal no line reaches its last column,
// and the view leaves two lines free.
func TestProgressFits(t *testing.T) {
	for columns := 1; columns <= 200; columns += 1 + columns/40 {
		s := newStage("日本語のとても長い名前のファイル.csv", "b", "c")
		script(s, func(moment string) {
			for _, height := range []int{1, 3, 7, 24, 100} {
				lines := s.picture(columns, height)
				if len(lines) > max(0, min(12, height-2)) {
					t.Errorf("%s: %d lines in a terminal of %d", moment, len(lines), height)
				}
				for _, line := range lines {
					if displaywidth.String(line) > columns-1 {
						t.Errorf("%s: %d columns: %q has %d", moment, columns, line, displaywidth.String(line))
					}
				}
			}
		})
	}
}

// hostile has control sequences and characters with which strangers may attack a terminal.
const hostile = "\x1b]0;title\x07\x1b[2J\x1b[31mred\x1b[0m\x9b5A\u009b5A\u202egnp.exe\u200b\x00\x07\x08\x7f\x1bP+q\x1b\\\x1b[?25l" +
	"z\u0300\u0301\u0302\u0303\u0304\u0305\r\n\x1b]52;c;aGk=\x07\xff\xfe👨\u200d👩\u200d👧 \x1b["

// TestProgressHostile: untrusted text has no effect on a terminal.
func TestProgressHostile(t *testing.T) {
	var b bytes.Buffer
	s := newStage(hostile, "b")
	s.screen.W = &b
	s.screen.Start()
	s.happens(agent.Event{Kind: agent.Started, Text: hostile})
	s.Stream(hostile, hostile, said(hostile))
	s.screen.Flush()
	s.Stream("analyzer", hostile, said(hostile))
	s.Stream("analyzer", hostile+"2", said(hostile))
	s.screen.Flush()
	for _, kind := range []agent.Kind{agent.Described, agent.Warned, agent.Proved} {
		s.happens(agent.Event{Kind: kind, Text: hostile})
	}
	s.plan(hostile)
	s.Cell(hostile)
	s.Output(printedOut(hostile))
	s.Output(notebook.Output{Type: notebook.DisplayData, Data: notebook.MIMEBundle{hostile: hostile}})
	s.screen.Flush()
	s.happens(agent.Event{Kind: agent.Ran, Try: 1, Text: hostile, Execution: &notebook.Execution{}})
	s.judge(record.Verdict{Reason: hostile})
	s.Wait(hostile)
	s.screen.Flush()
	s.Retrying(llm.Request{Role: hostile, Subject: hostile}, hostile)
	s.Stop()
	left := regexp.MustCompile(`\x1b\[(\d+A|K|J)|[\r\n]`).ReplaceAllString(b.String(), "")
	if strings.ContainsFunc(left, func(r rune) bool { return !unicode.IsPrint(r) }) {
		t.Errorf("%q", left)
	}
	if !strings.Contains(left, "gnp.exe") || !strings.Contains(left, "retry ") {
		t.Errorf("not shown: %q", left)
	}
}

// TestProgressPlain: without a terminal there are only lines for events, and none with --quiet.
func TestProgressPlain(t *testing.T) {
	var stderr bytes.Buffer
	for _, quiet := range []bool{false, true} {
		stderr.Reset()
		s := newStage("notes.md", "sales.csv", "stores of the whole country.xlsx")
		s.Progress = newProgress(&stderr, Options{Quiet: quiet})
		script(s, func(string) {})
		s.plan("Look again.")
		s.judge(record.Verdict{Sufficient: true, Inconclusive: true, Reason: "the data do not say"})
		s.Stop()
		s.Stop()
		s.SayIn(Good, "verified %s\nand more\x1b[2J", "it is")
		var labels []string
		for line := range strings.Lines(stderr.String()) {
			labels = append(labels, strings.TrimSpace(line[:min(len(line), 9)]))
		}
		want := "session file file file step 1    step 2  verified"
		if quiet {
			want = ""
		}
		if got := strings.Join(labels, " "); got != want || strings.Contains(stderr.String(), "\x1b") {
			t.Errorf("%q\n%s", got, &stderr)
		}
	}
}

// TestProgressColours: a view and colours appear only on terminals that support them.
func TestProgressColours(t *testing.T) {
	for _, o := range []Options{{Live: true, Colours: true}, {Live: true}, {}} {
		var stderr bytes.Buffer
		p := newProgress(&stderr, o)
		p.Wait("judging")
		p.Warn("of something")
		p.screen.Flush()
		p.Stop()
		for part, want := range map[string]bool{"judging": o.Live, "mwarning\x1b[0m": o.Colours, "\x1b": o.Live} {
			if got := strings.Contains(stderr.String(), part); got != want {
				t.Errorf("%+v: %q is there: %t in %q", o, part, got, &stderr)
			}
		}
	}
}

// A blocked terminal accepts nothing until it is released.
type blocked struct{ release chan struct{} }

func (b blocked) Write(p []byte) (int, error) {
	<-b.release
	return 0, io.ErrClosedPipe
}

// TestProgressBlocked: a terminal that accepts nothing does not block callers.
func TestProgressBlocked(t *testing.T) {
	for _, live := range []bool{true, false} {
		stuck := blocked{make(chan struct{})}
		p := newProgress(stuck, Options{Live: live})
		for i := range 10_000 {
			p.Warn("%d", i)
			p.Stream("coder", "round 1", said("x"))
			p.Output(printedOut("y\n"))
		}
		p.Stop()
		p.Stop()
		p.Say("the end")
		close(stuck.release)
	}
}
