package agent_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"dsstar/agent"
	"dsstar/agent/describe/profile"
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

// BenchmarkConversation asks 50 questions that build on each other, about six tables, and saves the
// notebook at every event, as dsstar does. It reports the processor time and the tokens of a
// question, the share of all requests that a provider can cache as the beginning of one before, and
// the size of the notebook.
func BenchmarkConversation(b *testing.B) {
	const questions = 50
	tables := map[string]profile.Profile{}
	var names []string
	for n := range 6 {
		var columns []string
		for c := range 12 {
			columns = append(columns, fmt.Sprintf("column %d of table %d", c, n))
		}
		names = append(names, fmt.Sprintf("table%d.csv", n))
		tables[names[n]] = table(50, columns...)
	}
	printed := strings.Repeat("a line of some forty characters is printed ", 15)
	key := record.Key("k")
	for b.Loop() {
		heard, size, began := &listener{}, 0, processor()
		stage := func(s *stage) {
			profiled(tables)(s)
			s.quick, s.task.Files = true, filesOf(names...)
			heard.Model = s.config.Model
			s.config.Model = heard
			s.config.Observe = func(e agent.Event, tr *record.Trajectory) error {
				if e.Before {
					return nil
				}
				nb := page.Draw(tr)
				key.Seal(nb)
				data, err := nb.Encode()
				size = len(data)
				return err
			}
		}
		tr := play(b, simple, stage).noError(b).Trajectory
		for n := 2; n <= questions; n++ {
			tr = readAgain(b, tr)
			if err := tr.Ask(fmt.Sprintf("And what is the value number %d of these?", n), ""); err != nil {
				b.Fatal(err)
			}
			cell := fmt.Sprintf("b = x\nb += \"%d %s\"\n%sprint(b)", n, printed, strings.Repeat("# A line of code.\n", 30))
			tr = goOn(b, onward.with(script{"cell": cell}), tr, stage).noError(b).Trajectory
		}
		b.ReportMetric(float64(size), "notebook-bytes")
		b.ReportMetric((processor()-began-heard.took).Seconds()/questions, "s/question")
		b.ReportMetric(float64(heard.bytes)/4/questions, "tokens/question")
		b.ReportMetric(float64(heard.alike)/float64(heard.bytes), "cacheable")
	}
}
