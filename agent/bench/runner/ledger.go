package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"dsstar/agent/ask"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/notebook/disk"
)

const ledgerFile = "spent.jsonl"

// A spending is a line of spent.jsonl: one when an attempt at a task begins, and one with
// its usage when it ends, successful or not.
type spending struct {
	Task   string  `json:"task_id"`
	Repeat int     `json:"repeat"`
	Begun  bool    `json:"begun,omitempty"`
	Calls  int     `json:"calls"`
	Cost   float64 `json:"cost_usd"` // as far as prices are known
}

// A ledger records the usage of all attempts at a folder's tasks, including judges and
// attempts without a record, so that the limits of a run include its earlier sessions.
type ledger struct {
	mu   sync.Mutex
	file *os.File
}

// openLedger opens the ledger and charges earlier usage to the budget. The usage of a killed
// attempt is taken from its trace.
func openLedger(f *Folder, b *ask.Budget) (*ledger, error) {
	file, err := disk.OpenOwn(filepath.Join(f.path, ledgerFile),
		os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the ledger: %w", err)
	}
	l := &ledger{file: file}
	past, err := l.read()
	if err == nil {
		var killed []spending
		killed, err = l.settle(f, b, past)
		past = append(past, killed...)
	}
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	for _, s := range past {
		b.Add(s.Calls, s.Cost)
	}
	return l, nil
}

// read reads the lines, and removes an incomplete last one, left by a crash.
func (l *ledger) read() ([]spending, error) {
	all, size, err := readLines(l.file, ledgerFile, func(s spending) string { return s.Task })
	if err != nil {
		return nil, err
	}
	return all, l.file.Truncate(size)
}

// settle appends the usage of attempts that began but never ended, because they were killed.
func (l *ledger) settle(f *Folder, b *ask.Budget, past []spending) ([]spending, error) {
	open := map[Key]bool{}
	var order []Key
	for _, s := range past {
		k := Key{s.Task, s.Repeat}
		if s.Begun && !open[k] {
			order = append(order, k)
		}
		open[k] = s.Begun
	}
	var all []spending
	for _, k := range order {
		if !open[k] {
			continue
		}
		open[k] = false
		s, err := traced(record.Folder(f.Task(k)).Trace(), b)
		if err != nil {
			return nil, err
		}
		s.Task, s.Repeat = k.ID, k.Repeat
		if err := l.append(s); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// traced returns the usage in a trace; zero if there is no trace.
func traced(path string, b *ask.Budget) (spending, error) {
	var s spending
	file, err := disk.Open(path, disk.MaxDocument)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	defer file.Close()
	exchanges, err := llm.ReadTrace(file)
	if err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	for _, e := range exchanges {
		s.Calls += max(1, e.Calls)
		price, _ := b.PriceOf(e.Role)
		s.Cost += price.Cost(e.Usage)
	}
	return s, nil
}

func (l *ledger) begin(k Key) error {
	return l.append(spending{Task: k.ID, Repeat: k.Repeat, Begun: true})
}

func (l *ledger) end(k Key, t *tally) error {
	calls, paid := t.sum()
	return l.append(spending{Task: k.ID, Repeat: k.Repeat, Calls: calls, Cost: paid})
}

// append writes one line, which only a crash can leave incomplete.
func (l *ledger) append(s spending) error {
	line, err := json.Marshal(s)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write %s: %w", ledgerFile, err)
	}
	return nil
}

func (l *ledger) close() error { return l.file.Close() }
