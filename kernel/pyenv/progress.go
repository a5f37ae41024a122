package pyenv

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// teller turns the tools' output into progress lines, and adds one when they are quiet for long.
type teller struct {
	mu       sync.Mutex
	progress func(string)
	doing    string
	started  time.Time
	told     time.Time
}

const (
	quietPackages = 2 * time.Second // at least, between two lines about packages
	quietAtAll    = 5 * time.Second // at most, between two lines
)

func newTeller(progress func(string)) *teller {
	now := time.Now()
	return &teller{progress: progress, doing: "creating the Python environment", started: now,
		told: now}
}

// line reads one line of output. The tools' output is for people and may change: unrecognized
// lines are skipped.
func (t *teller) line(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	name, _, _ := strings.Cut(rest, " ")
	now := time.Now()
	switch {
	case word == "Installing" && strings.HasPrefix(rest, "collected packages"), word == "Prepared":
		t.doing = "installing packages"
	case word == "Collecting", word == "Downloading" && !strings.HasSuffix(name, ".whl") &&
		!strings.Contains(name, "/"):
		t.doing = "downloading packages"
		if now.Sub(t.told) < quietPackages {
			return
		}
		t.progress("downloading " + strings.Replace(name, "==", " ", 1))
		t.told = now
		return
	default:
		return
	}
	t.progress(t.doing)
	t.told = now
}

// stillAlive reports progress when the tools are quiet, until stop is called.
func (t *teller) stillAlive() (stop func()) {
	done := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case now := <-tick.C:
				t.alive(now)
			}
		}
	})
	return func() { close(done); ended.Wait() }
}

func (t *teller) alive(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Sub(t.told) < quietAtAll {
		return
	}
	t.progress(fmt.Sprintf("still %s (%.0f s)", t.doing, now.Sub(t.started).Seconds()))
	t.told = now
}
