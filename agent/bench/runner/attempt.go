package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"dsstar/agent/ask"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/notebook/disk"
)

// mark is the file that is there while an attempt at a task runs. One that is left tells that the
// attempt was killed.
func (f *Folder) mark(k Key) string { return f.Task(k) + ".running" }

// begin makes the run folder of a task anew.
func (f *Folder) begin(k Key) (dir string, err error) {
	dir = f.Task(k)
	if err = os.RemoveAll(dir); err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = disk.WriteFile(f.mark(k), nil)
	}
	if err != nil {
		return "", fmt.Errorf("begin %s: %w", k, err)
	}
	return dir, nil
}

// stop ends an attempt without a result.
func (f *Folder) stop(k Key, used Spent) error {
	if used.Calls == 0 {
		return f.ended(k)
	}
	return f.Append(Record{Task: k.ID, Repeat: k.Repeat, Stopped: true, Spent: &used})
}

func (f *Folder) ended(k Key) error {
	if err := os.Remove(f.mark(k)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// settle stops the attempts that were killed, whose traces tell what they have used.
func (f *Folder) settle(b *ask.Budget) error {
	for _, j := range f.jobs() {
		if _, err := os.Stat(f.mark(j.Key())); err != nil {
			continue
		}
		used, err := traced(record.Folder(f.Task(j.Key())).Trace(), b)
		if err == nil {
			err = f.stop(j.Key(), used)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// traced returns the usage in a trace; zero if there is no trace.
func traced(path string, b *ask.Budget) (s Spent, err error) {
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
