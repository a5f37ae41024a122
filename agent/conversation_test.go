package agent_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"dsstar/agent"
	"dsstar/agent/llm"
	"dsstar/agent/page"
	"dsstar/agent/record"
)

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
			tr = readAgain(b, tr)
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
