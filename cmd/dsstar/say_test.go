package main

import (
	"os"
	"path/filepath"
	"testing"

	"dsstar/agent/record"
)

// TestWrapped: sentences are wrapped at words, with the indentation of their line.
func TestWrapped(t *testing.T) {
	const text = "Seal Beach comes first, with 198.79 per day.\n\n  - the calendar quarter: 143.21\na    b"
	const want = "Seal Beach comes\nfirst, with 198.79\nper day.\n\n  - the calendar\n  quarter: 143.21\na    b"
	if got := wrapped(text, 20); got != want {
		t.Errorf("%q", got)
	}
	if got := wrapped(text, 0); got != text {
		t.Errorf("without a terminal: %q", got)
	}
}

// TestAnswerFirst: the answer stands first, with what it is worth, whatever the model's sentences say; and
// that the data hold none is said with it, in the list of runs, too.
func TestAnswerFirst(t *testing.T) {
	for inconclusive, label := range map[bool]string{false: "not verified", true: "not verified, the data hold no answer"} {
		tr := &record.Trajectory{Ended: true, Final: &record.Final{Answer: "USA", Summary: "The USA has fewer."},
			Rounds: []record.Round{{Verdict: &record.Verdict{Sufficient: true, Inconclusive: inconclusive}}}}
		want := "Answer, " + label + ": USA\n\n" + record.ModelsWords + ":\n" + tr.Summary()
		if got := inWords(tr, nil, 0); got != want {
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
