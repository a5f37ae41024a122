package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/agent/journal"
	"dsstar/agent/record"
	"dsstar/notebook/compare"
)

// TestAnswerFirst: the answer stands first, with what it is worth, whatever the model's sentences
// say; and that the data hold none is said with it, in the list of runs, too.
func TestAnswerFirst(t *testing.T) {
	for inconclusive, label := range map[bool]string{false: "not verified", true: "not verified, the data hold no answer"} {
		tr := record.New(record.Task{}, record.Question{
			Final:  &record.Final{Derived: record.Derived{Answer: "USA"}, Summary: "The USA has fewer."},
			Rounds: []record.Round{{Verdict: &record.Verdict{Sufficient: true, Inconclusive: inconclusive}}}})
		tr.Ended = true
		want := "Answer, " + label + ": USA\n\n" + tr.SummaryLabel() + ":\n" + tr.Summary()
		if got := inWords(tr, nil); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		dir := t.TempDir()
		folder := record.Folder(filepath.Join(dir, "run"))
		if err := os.Mkdir(string(folder), 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := newSaver(folder, nil).save(tr); err != nil {
			t.Fatal(err)
		}
		if all := runsIn(dir, nil); len(all) != 1 || all[0].Label != label+record.Claimed {
			t.Errorf("%+v, want %s", all, label)
		}
	}
}

// TestChooseable: options are named by their number, those of an earlier question after its number.
func TestChooseable(t *testing.T) {
	open := []record.Reading{{Point: "Which?", Options: []record.Option{{Text: "a"},
		{Text: "b", Derived: record.Derived{Answer: "2"}}}}}
	tr := record.New(record.Task{}, record.Question{Readings: append(open, open...)})
	tr.Questions = []*record.Question{{Readings: open}, {}, tr.Question}
	var names []string
	for _, o := range chooseable(tr) {
		names = append(names, o.name)
	}
	if got := strings.Join(names, " "); got != "1 2 3 4 1.1 1.2" {
		t.Error(got)
	}
	if err := choose(tr, "2.1"); err == nil {
		t.Error("an option that is not there was chosen")
	}
	if err := choose(tr, "1.2"); err != nil || len(tr.Later) != 1 ||
		len(journal.All[record.Decision](tr.Journal, record.Decided)) != 1 {
		t.Errorf("%v, %+v", err, tr.Readings)
	}
}

// TestOptionsWithFiles: where the words of two answers are the same, their files tell them apart.
func TestOptionsWithFiles(t *testing.T) {
	tr := record.New(record.Task{}, record.Question{Final: &record.Final{Derived: record.Derived{Answer: "out.csv"}},
		Readings: []record.Reading{{Point: "Which?",
			Options: []record.Option{{Text: "a"}, {Text: "b", Derived: record.Derived{Answer: "out.csv",
				Differs: "out.csv: 3 rows / 4", Files: []compare.File{{Name: "out.csv"}}}}}}}})
	if said, all := inWords(tr, nil), readingsOf(tr); !strings.Contains(said, "3 rows / 4") || all[1].Differs != "out.csv: 3 rows / 4" {
		t.Errorf("%s\n%+v", said, all)
	}
}
