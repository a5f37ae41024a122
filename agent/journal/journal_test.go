package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"dsstar/agent/journal"
)

type result struct{ Text string }

// TestOnce: a result is asked for once for what it rests on, also by whoever reads the journal; an
// error is not kept, nor what was forgotten.
func TestOnce(t *testing.T) {
	j, calls := &journal.Journal{}, 0
	ask := func(j *journal.Journal, on any, err error) string {
		r, _ := journal.Once(t.Context(), j, "reply", on, func(context.Context) (result, error) {
			calls++
			return result{string(rune('a' + calls - 1))}, err
		})
		return r.Text
	}
	failed := errors.New("failed")
	is := func(what, got, want string, asked int) {
		t.Helper()
		if got != want || calls != asked {
			t.Errorf("%s: %q after %d calls, want %q after %d", what, got, calls, want, asked)
		}
	}
	is("an error", ask(j, 1, failed), "", 1)
	is("after it", ask(j, 1, nil), "b", 2)
	is("again", ask(j, 1, failed), "b", 2)
	is("on something else", ask(j, []string{"1"}, nil), "c", 3)
	data, err := json.Marshal(j)
	read := &journal.Journal{}
	data = append([]byte(`["{damaged",`), data[1:]...)
	if err != nil || json.Unmarshal(data, read) != nil || len(journal.All[result](read, "reply")) != 2 {
		t.Errorf("%v, %s", err, data)
	}
	is("read from JSON", ask(read, 1, nil), "b", 3)
	j.Forget("reply", 1)
	is("forgotten", ask(j, 1, nil), "d", 4)
	journal.Drop(j, "reply", func(r result) bool { return r.Text == "d" })
	is("dropped", ask(j, 1, nil)+ask(j, []string{"1"}, nil), "ec", 5)
	_ = journal.Put(j, "reply", 1, result{"x"})
	is("replaced", ask(j, 1, nil), "x", 5)
}

// TestMove: what names the folder of a run, and no other, is found in another one, and names that.
func TestMove(t *testing.T) {
	j := &journal.Journal{}
	on := func(folder string) any { return []string{folder + "/files/a.csv", folder + "-data/a.csv"} }
	j.In(`/home/"a"`)
	if err := journal.Put(j, "cell", `/home/"a"`, on(`/home/"a"`)); err != nil {
		t.Fatal(err)
	}
	j.Move("/new/$1")
	got, ok := journal.Known[[]string](j, "cell", "/new/$1")
	if want := []string{"/new/$1/files/a.csv", `/home/"a"-data/a.csv`}; !ok || !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestSaved: whoever adds a result has the error of saving it.
func TestSaved(t *testing.T) {
	j, full := &journal.Journal{}, errors.New("no room")
	j.Saved = func(string) error { return full }
	_, err := journal.Once(t.Context(), j, "reply", 1, func(context.Context) (int, error) { return 1, nil })
	if !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = journal.Once(ended, j, "reply", 2, func(context.Context) (int, error) { return 1, nil })
	if !errors.Is(err, context.Canceled) || j.Asked() != 1 {
		t.Errorf("%v, %d", err, j.Asked())
	}
}
