package page

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"dsstar/agent/journal"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/compare"
	"dsstar/notebook/notebooktest"
)

// The notebooks in testdata are of real runs, of which only long outputs were cut, but for three that
// were made: verified, depends, and odd, which has what hardly any has. -update draws all again.
var update = flag.Bool("update", false, "draw the notebooks in testdata again")

// TestDraw: a notebook that is read and drawn again is the same, byte for byte.
func TestDraw(t *testing.T) {
	names := must(filepath.Glob("testdata/*.ipynb"))
	for _, name := range names {
		drew := must(Draw(readAgain(t, must(notebook.Open(name)))).Encode())
		if *update {
			must(0, os.WriteFile(name, drew, 0o644))
		}
		was := must(os.ReadFile(name))
		if diff := cmp.Diff(string(was), string(drew)); diff != "" {
			t.Errorf("%s (-recorded +now)\n%s", name, diff)
		}
	}
	if len(names) == 0 {
		t.Error("no notebooks")
	}
}

// readAgain reads the notebook of a run. What is drawn of it is read back the same.
func readAgain(t *testing.T, nb *notebook.Notebook) *record.Trajectory {
	t.Helper()
	tr := must(Read(nb))
	again := must(Read(must(notebook.Read(bytes.NewReader(must(Draw(tr).Encode()))))))
	if diff := cmp.Diff(tr, again, cmpopts.EquateEmpty(), cmpopts.IgnoreTypes(&journal.Journal{})); diff != "" {
		t.Errorf("drawn and read again (-want +got)\n%s", diff)
	}
	return tr
}

func golden(name string) *notebook.Notebook {
	return must(notebook.Open("testdata/" + name + ".ipynb"))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// TestEdits: what a person has done to a notebook is found.
func TestEdits(t *testing.T) {
	const refused = "refused"
	mine := notebook.Cell{ID: "mine", Type: notebook.Code, Source: "# Mend it\ntotal += 1"}
	note := notebook.Cell{ID: "note", Type: notebook.Markdown, Source: "Mind the gap."}
	note.Metadata = map[string]any{"tags": []any{record.NoteTag}}
	for i, c := range []struct {
		file   string
		change notebooktest.Edit
		what   string
		cells  string // the rounds whose cells are the steps; or refused
	}{
		{"finished", source("step-3", "sum()", "max()"), "the cell of step 2 was changed", "1 3"},
		{"finished", remove("round-1", "step-1", "verdict-1"), "step 1 was removed", "3"},
		{"finished", remove("step-3"), "step 2 was removed", "1"},
		{"finished", remove("final"), "the last cell was removed", "1 3"},
		{"finished", source("final", "total", "n"), "the last cell was changed", "1 3"},
		{"finished", insert("proof", mine), "a cell was added as step 3", "1 3 4"},
		{"finished", copied("step-1"), "a cell was added as step 2", "1 4 3"},
		{"finished", move("step-1", "step-3"), "the steps were put into another order", "3 1"},
		{"finished", insert("step-1", note), "a note was left: Mind the gap.", "1 3"},
		{"finished", source("parameters", "../data", "/d"), "the data folder is now /d", "1 3"},
		// Texts that dsstar draws are no record.
		{"asked", source("question-2", "**Answer**", "Mine. **Answer**"), "", "1"},
		{"finished", remove("round-3", "verdict-3"), "", "1 3"},
		{"finished", all(copied("verdict-1"), source("round-3", "Add", "Sum")), "", "1 3"},
		// Edits from which no run continues.
		{"finished", remove("setup"), "the parameters or the set-up was changed", refused},
		{"finished", source("setup", "import os", "import os, sys"), "the parameters or the set-up was changed", refused},
		{"finished", source("parameters", "question", "extra = 1\nquestion"),
			"the parameters or the set-up was changed", refused},
		{"finished", source("parameters", "data_dir = ", "data_dir = 1 + "),
			`only data_dir = "…" may`, refused},
		{"finished", source("parameters", "What is", "What was"), "another question with --ask", refused},
		{"finished", source("question", "What is", "What was"), "the question or its form was changed", refused},
		{"finished", source("asked", "## Question", "## Question\n\nOnly the paid ones."),
			"the question or its form was changed", refused},
		{"asked", move("step-1", "step-3"), "question 1: the steps were put into another order", "3 1"},
		{"paper", source("final", "sum", "max"), "whole scripts", refused},
		{"paper", remove("final"), "whole scripts", refused},
		{"paper", source("setup", "import os", "import sys"), "the set-up was changed", refused},
	} {
		t.Run(fmt.Sprint(i, " ", c.what), func(t *testing.T) {
			nb := golden(c.file)
			c.change(nb)
			if c.cells == refused {
				_, err := Read(nb)
				if e, ok := errors.AsType[*record.EditError](err); !ok || !strings.Contains(e.Problem, c.what) {
					t.Errorf("%v, want %q", err, c.what)
				}
				return
			}
			tr := readAgain(t, nb)
			var shown []int
			for _, r := range tr.Drawn(false) {
				shown = append(shown, r.Number)
			}
			for _, r := range tr.Past { // what a cell shows is in the notebook once
				if a := r.Accepted(); a.IsCell() && slices.Contains(shown, r.Number) && a.Execution.Outputs != nil {
					t.Errorf("round %d has outputs, and its cell, too", r.Number)
				}
			}
			cells := strings.Trim(fmt.Sprint(shown), "[]")
			if what := strings.Join(tr.Edits(), "; "); what != c.what || cells != c.cells {
				t.Errorf("%q, cells %s, want %q, cells %s", what, cells, c.what, c.cells)
			}
		})
	}
}

// TestRemarks: a person's own texts keep their places, and get ids that no cell of dsstar's has.
func TestRemarks(t *testing.T) {
	text := func(id, after string) notebook.Cell {
		return notebook.Cell{ID: id, Type: notebook.Markdown, Source: "Mine.",
			Metadata: map[string]any{"dsstar": map[string]any{"after": after}}}
	}
	nb := golden("finished")
	all(remove("verdict-1"), insert("step-1", text("verdict-1", "")), insert("step-1", text("mine", "")),
		source("proof", "Proof", "Proofs"), insert("proof", text("left", "step-9")))(nb)
	var got []string
	for _, r := range readAgain(t, nb).Remarks {
		got = append(got, r.After+" "+r.Cell.ID)
	}
	want := []string{"step-1 mine", "step-1 verdict-1-by-hand-1", "proof proof-by-hand-1", "step-9 left"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestReadRefuses: what dsstar has not written, or what is damaged, is no record.
func TestReadRefuses(t *testing.T) {
	for _, c := range []struct{ entry, value, text string }{
		{"", `null`, "not written by dsstar"},
		{"", `{"version": 4}`, "version 4, not 3"},
		{"", `{"version": 3}`, "no trajectory"},
		{"", `"x"`, "metadata"},
		{"questions", `[]`, "no question"},
		{"questions", `[null]`, "no question"},
		{"questions", `[{"start": {"given": [{}]}}]`, "damaged"},
		{"questions", `[{"readings": [{"point": "a"}]}]`, "damaged"},
		{"questions", `[{"readings": [{"options": [{}, {}], "together": [1]}]}]`, "damaged"},
	} {
		nb := golden("carried-out")
		in, entry := nb.Metadata, "dsstar"
		if c.entry != "" {
			in, entry = nb.Metadata["dsstar"].(map[string]any)["trajectory"].(map[string]any), c.entry
		}
		in[entry] = json.RawMessage(c.value)
		if c.value == "null" {
			delete(in, entry)
		}
		if _, err := Read(nb); err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("got %v, want %q", err, c.text)
		}
	}
	nb := golden("carried-out")
	nb.Cells[0].Metadata["dsstar"] = 7
	if _, err := Read(nb); err == nil || !strings.Contains(err.Error(), "cell 1") {
		t.Error(err)
	}
}

var (
	all, source, remove = notebooktest.All, notebooktest.Source, notebooktest.Remove
	insert, move        = notebooktest.Insert, notebooktest.Move
)

func copied(id string) notebooktest.Edit {
	return func(nb *notebook.Notebook) {
		c := *notebooktest.Cell(nb, id)
		c.ID = "copy"
		insert(id, c)(nb)
	}
}

// follow makes a run one whose question follows another one.
func follow(t *record.Trajectory) {
	first := *t.Question
	t.Questions = []*record.Question{&first, t.Question}
	t.Rounds = []record.Round{{Attempts: record.Left("c = 2"), Verdict: &record.Verdict{Sufficient: true}}}
	t.Readings, first.Readings = nil, nil
	t.Second = &record.Second{Derived: record.Derived{Answer: "North"}, Agrees: true}
}

// TestWords: the words of an answer's worth are written only where they are true.
func TestWords(t *testing.T) {
	words := map[string]string{"own": "independently", "hand": "saw nothing of what was written or changed by hand: step 1, the last cell", "none": "no reading", "whole": "no open reading",
		"chart": "not compared: the chart", "other": "another answer, South: both may be.",
		"nothing": "The data hold no answer: no sales are in it", "files": "compared: n.csv, c.png", "file": "not compared: c.png"}
	rejected := func(ruling string) func(*record.Trajectory) {
		return func(t *record.Trajectory) { t.Second.Rejected = []record.Ruled{{Ruling: ruling}} }
	}
	gave := func(first, second []compare.File) func(*record.Trajectory) {
		return func(t *record.Trajectory) { t.Final.Files, t.Second.Files = first, second }
	}
	table, picture := compare.File{Name: "n.csv", Digest: "1"}, compare.File{Name: "c.png", Digest: "2"}
	for n, c := range []struct {
		said   string
		change func(*record.Trajectory)
	}{
		{"own whole chart", func(*record.Trajectory) {}},
		{"own none chart", func(t *record.Trajectory) { t.Readings = nil }},
		{"own whole chart hand", func(t *record.Trajectory) { t.Rounds[0].ByHand, t.Final.ByHand = true, true }},
		{"none", follow},
		{"whole chart", func(t *record.Trajectory) { t.Second.Together = true }},
		{"whole chart", rejected(record.RuledSecond)}, // it was told a mistake
		{"whole chart", rejected(record.RuledFirst)},
		{"own whole files", gave([]compare.File{table, picture}, []compare.File{table, picture})},
		{"own whole file", gave([]compare.File{picture}, []compare.File{{Name: "c.png", Digest: "3"}})},
		{"own whole", func(t *record.Trajectory) { t.Rounds[0].Attempts[1].Execution.Outputs = nil }},
		{"own chart", func(t *record.Trajectory) {
			t.Readings[1].Options[1].Same, t.Readings[1].Options[1].Answer = false, "South"
		}},
		{"other", func(t *record.Trajectory) {
			t.Second = &record.Second{Derived: record.Derived{Answer: "South"}, Ruling: record.RuledUndecided,
				Reason: "both may be"}
		}},
		{"own whole chart nothing", func(t *record.Trajectory) {
			t.Rounds[0].Verdict = &record.Verdict{Sufficient: true, Inconclusive: true, Reason: "no sales are in it"}
		}},
	} {
		tr := readAgain(t, golden("verified"))
		c.change(tr)
		for key, word := range words {
			if strings.Contains(tr.InWords(), word) != slices.Contains(strings.Fields(c.said), key) {
				t.Errorf("%d: %q in %s", n, word, tr.InWords())
			}
		}
	}
}

// TestRestate: an answer that changed when the notebook was run again has no sentences, and its
// claims are withdrawn.
func TestRestate(t *testing.T) {
	nb := golden("verified")
	Restate(nb, map[int]string{1: "South"})
	top := nb.Cells[0].Source
	if !strings.Contains(top, "South") || !strings.Contains(top, "Not verified") ||
		strings.Contains(top, "North") || strings.Contains(nb.Cells[1].Source, "no | ") {
		t.Errorf("%s\n%s", top, nb.Cells[1].Source)
	}
	if again := readAgain(t, nb); again.Answer() != "South" || again.Summary() != "" || again.Verified() {
		t.Errorf("%+v", again.Final)
	}
}

// TestEscapes: templates show no text that is not escaped.
func TestEscapes(t *testing.T) {
	action := regexp.MustCompile(`\{\{-? *(.*?) *-?\}\}`)
	control := regexp.MustCompile(`^(?:if|else|with|range|end|define|template)\b|^\$\w+ :?= `)
	escaped := regexp.MustCompile(`^(?:prose|paragraphs|html|fence|path|len|plural|printf "%\.\df|safety|inc|body)\b`)
	numbers := []string{".Number", "$.Number", "$.Place", "$.Corrected", ".RoundsTaken", ".Back", ".Disputes", ".Steps", ".Task.Others", ".Calls", ".InputTokens", ".CachedTokens",
		".OutputTokens", ".Usage.InputTokens", ".Usage.OutputTokens"}
	ours := []string{"$and", ".String"}
	files := must(fs.Glob(cellTexts, "cells/*.tmpl"))
	if len(files) < 10 {
		t.Fatal(files)
	}
	for _, name := range files {
		for _, m := range action.FindAllStringSubmatch(string(must(fs.ReadFile(cellTexts, name))), -1) {
			if does := m[1]; !control.MatchString(does) && !escaped.MatchString(does) &&
				!slices.Contains(append(numbers, ours...), does) {
				t.Errorf("%s: {{%s}}", name, does)
			}
		}
	}
}
