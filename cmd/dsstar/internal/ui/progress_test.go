package ui

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"dsstar/agent"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/notebook"
)

// A stage is a Progress with a clock that the test sets.
type stage struct {
	*Progress
	t     *record.Trajectory
	clock time.Time
	more  string // at the end of every text
}

// newStage returns a stage that draws nothing by itself, with three files.
func newStage() *stage {
	s := &stage{t: record.New(record.Task{}, record.Question{}), clock: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	for _, f := range []string{"notes.md", "sales.csv", "日本語のとても長い名前のファイル.csv"} {
		s.t.Task.Files = append(s.t.Task.Files, record.File{Name: f})
	}
	s.Progress = &Progress{now: func() time.Time { return s.clock }}
	s.begun = s.clock
	s.screen = &Screen{W: io.Discard, View: s.picture,
		Options: Options{Live: true, Size: func() (int, int) { return 60, 24 }}}
	return s
}

func (s *stage) happens(e agent.Event) {
	e.Text += s.more
	s.Event(e, s.t)
}

func (s *stage) passes(seconds int) { s.clock = s.clock.Add(time.Duration(seconds) * time.Second) }

func (s *stage) shown(columns int) string { return strings.Join(s.picture(columns, 24), "\n") + "\n" }

// plan adds a round with its step.
func (s *stage) plan(step string) {
	s.t.Rounds = append(s.t.Rounds, record.Round{Step: step + s.more})
	n := len(s.t.Rounds)
	s.happens(agent.Event{Kind: agent.Planned, Round: n, Step: n, Text: step})
}

func (s *stage) spend(calls, in, cached, out int, cost float64) {
	s.t.Usage = record.Usage{Calls: calls,
		Usage: llm.Usage{InputTokens: in, CachedTokens: cached, OutputTokens: out}}
	s.t.Cost = &cost
}

// prints is what a cell prints.
func (s *stage) prints(text string) {
	s.Output(notebook.Output{Type: notebook.Stream, Name: "stdout", Text: text + s.more})
}

// asks asks a role, which has answered with a text so far.
func (s *stage) asks(role, text string) {
	s.Stream(role+s.more, "round 1", nil)
	s.Stream(role+s.more, "round 1", func() string { return text + s.more })
}

// script takes the stage through a round, and calls see at each moment.
func script(s *stage, see func(moment string)) {
	s.happens(agent.Event{Kind: agent.Started, Text: "Python 3.13"})
	s.asks("analyzer", "```python\nimport pandas as pd\nprint(pd.read_csv('data/sales.csv').head())")
	s.passes(4)
	s.happens(agent.Event{Kind: agent.Described, Text: "notes.md"})
	see("describing")
	s.happens(agent.Event{Kind: agent.Described, Text: "sales.csv"})
	s.happens(agent.Event{Kind: agent.Described, Text: s.t.Task.Files[2].Name})
	s.spend(4, 5480, 2048, 654, 0.0123)
	see("waiting")
	s.plan("Load the sales, keep those of last year and add them up for each of the stores, whatever their name.")
	s.asks("coder", "The cell:\n\n```python\nimport pandas as pd\n\nsales = 1\nfor year in")
	s.passes(3)
	see("writing")
	s.Cell("import pandas as pd\nsales = 1\nfor year in years:\n\tprint(year)" + s.more)
	see("running")
	for _, text := range []string{"2023\n2024\n", "\x1b[32mloading  10%\rloading  90%", "\x1b[0m\r"} {
		s.prints(text)
	}
	s.Output(notebook.Output{Type: notebook.DisplayData,
		Data: notebook.MIMEBundle{"image/png": "…", "text/plain": "<Figure>"}})
	s.passes(70)
	see("printing")
	s.happens(agent.Event{Kind: agent.Ran, Try: 1, Execution: &notebook.Execution{Status: notebook.OK}})
	s.spend(26, 1_234_567, 812_000, 24_650, 12.345)
	reason := "The sales of last year are added up, but nothing says which sold most."
	s.t.Rounds[0].Verdict = &record.Verdict{Reason: reason + s.more}
	s.happens(agent.Event{Kind: agent.Judged, Text: reason})
	s.t.Rounds[0].Route = &record.Route{Back: 1}
	s.happens(agent.Event{Kind: agent.Routed})
	s.asks("planner", "Step: rank the stores")
	s.passes(3600)
	see("planning")
	s.happens(agent.Event{Kind: agent.Proving})
	see("proving")
	s.happens(agent.Event{Kind: agent.Ended})
	see("ended")
}

// TestProgressView: at each moment the view shows what happens, and the last lines of streamed text. At
// every size of the terminal no line reaches its last column, and the view leaves two lines free.
func TestProgressView(t *testing.T) {
	s := newStage()
	got := map[string]string{}
	script(s, func(moment string) { got[moment] = s.shown(60) })
	for moment, want := range map[string][]string{
		"describing": {"│ print(", "describing the files (1 of 3), 0s", "4s       0 calls"},
		"waiting":    {"waiting for the kernel"},
		"writing":    {"│ import pandas as pd\n", "         │ for year in\n", "asking the coder, 3s"},
		"running":    {"         │     print(year)\n"},
		"printing": {"output   │ 2023\n", "│ loading  90%\n", "│ [image]\n", "running the cell, 1m10s",
			"4 calls, 5.5k in (2.0k cached), 654 out, ~$0.012"},
		"planning": {"plan     │ Step: rank", "1h0m0s", "$12.35"},
		"proving":  {"proving: "},
		"ended":    {"\n"},
	} {
		for _, part := range want {
			if !strings.Contains(got[moment], part) {
				t.Errorf("%s: no %q in\n%s", moment, part, got[moment])
			}
		}
	}
	for columns := 1; columns <= 200; columns += 1 + columns/40 {
		s := newStage()
		script(s, func(moment string) {
			for _, height := range []int{1, 3, 7, 24, 100} {
				lines := s.picture(columns, height)
				if len(lines) > max(0, height-2) {
					t.Errorf("%s: %d lines in a terminal of %d", moment, len(lines), height)
				}
				for _, line := range lines {
					if Width(line) > columns-1 {
						t.Errorf("%s: %d columns: %q has %d", moment, columns, line, Width(line))
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
	s := newStage()
	s.screen.W, s.more = &b, hostile
	script(s, func(string) { s.screen.Flush() })
	for _, kind := range []agent.Kind{agent.Warned, agent.Proved} {
		s.happens(agent.Event{Kind: kind})
	}
	s.happens(agent.Event{Kind: agent.Ran, Try: 1, Execution: &notebook.Execution{}})
	s.Output(notebook.Output{Type: notebook.DisplayData, Data: notebook.MIMEBundle{hostile: hostile}})
	s.screen.Flush()
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

// TestProgressPlain: without a terminal there are only lines for events, and none with --quiet; a view
// and colours appear only on terminals that support them.
func TestProgressPlain(t *testing.T) {
	for _, o := range []Options{{}, {Quiet: true}, {Live: true}, {Live: true, Colours: true}} {
		var stderr bytes.Buffer
		o.Size = func() (int, int) { return 80, 24 }
		s := newStage()
		s.Progress = New(&stderr, o)
		script(s, func(string) {})
		s.Wait("going on")
		s.Warn("of something")
		s.screen.Flush()
		s.Stop()
		s.Stop()
		s.SayIn(Good, "verified %s\nand more\x1b[2J", "it is")
		for part, want := range map[string]bool{"going on": o.Live, "mwarning\x1b[0m": o.Colours, "\x1b": o.Live} {
			if got := strings.Contains(stderr.String(), part); got != want {
				t.Errorf("%+v: %q is there: %t in %q", o, part, got, &stderr)
			}
		}
		if o.Live {
			continue
		}
		var labels []string
		for line := range strings.Lines(stderr.String()) {
			labels = append(labels, strings.TrimSpace(line[:min(len(line), 9)]))
		}
		want := "session file file file step 1    warning verified"
		if o.Quiet {
			want = ""
		}
		if got := strings.Join(labels, " "); got != want {
			t.Errorf("%q\n%s", got, &stderr)
		}
	}
}

// TestProgressBlocked: a terminal or pipe that accepts nothing does not hold callers up for long.
func TestProgressBlocked(t *testing.T) {
	t.Parallel()
	for _, live := range []bool{true, false} {
		unread, stuck, err := os.Pipe()
		pyenvtest.OK(t, err)
		p := New(stuck, Options{Live: live, Size: func() (int, int) { return 80, 24 }})
		for i := range 10_000 {
			p.Warn("%d", i)
		}
		p.Stop()
		p.Stop()
		p.Say("the end")
		pyenvtest.OK(t, unread.Close())
	}
}
