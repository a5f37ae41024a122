package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/site"
)

// result is the object that --json prints. Its fields are a contract:
// docs/results.md.
type result struct {
	Answer     string `json:"answer"`
	Summary    string `json:"summary"`       // the answer in sentences; "" if there are none
	Label      string `json:"summary_label"` // says whose words they are
	Standing   string `json:"standing"`
	Worth      string `json:"worth"` // the standing and why, in a line
	Verified   bool   `json:"verified"`
	Sufficient bool   `json:"sufficient"`
	// Inconclusive: the verdict is that the data hold no answer.
	Inconclusive bool     `json:"inconclusive"`
	Perturbed    string   `json:"perturbed"` // whether what it claims survives other data
	Doubts       []string `json:"doubts"`    // why the answer is not verified
	// Readings are the options of open readings that change the answer.
	Readings []resultReading `json:"readings"`
	Decided  []string        `json:"decided"` // readings that were not computed, and by which output
	// Definitions are those that bind, and that the question uses or evidence quotes.
	Definitions []map[string]string `json:"definitions"`
	Rounds      int                 `json:"rounds"`
	Steps       int                 `json:"steps"`
	RunDir      string              `json:"run_dir"`
	Notebook    string              `json:"notebook"`
	Script      string              `json:"script"`
	Trace       string              `json:"trace"`
	Files       []string            `json:"files"` // paths: asked for or named by the answer; pictures
	Usage       resultUsage         `json:"usage"`
	Seconds     record.Seconds      `json:"seconds"`
	Kernel      *resultKernel       `json:"kernel"` // null: none was needed
	Rows        []resultRows        `json:"rows"`   // of cells of which a program counted something
	Receipts    []record.Receipt    `json:"receipts"`
	Warnings    []string            `json:"warnings"`
}

type resultRows struct {
	Step  int      `json:"step"` // 0: the last cell
	Lines []string `json:"lines"`
}

type resultReading struct {
	Point    string `json:"point"`
	Reading  string `json:"reading"`
	Answer   string `json:"answer"`  // "": it could not be computed
	Chosen   bool   `json:"chosen"`  // the accepted cells take it
	Choose   string `json:"choose"`  // what --choose takes
	Differs  string `json:"differs"` // if it has files: how they, or it, differ from the cells'
	Evidence string `json:"evidence"`
}

type resultUsage struct {
	record.Usage
	CostUSD *float64                `json:"cost_usd"` // null: prices are unknown
	ByRole  map[string]record.Usage `json:"by_role"`
}

type resultKernel struct {
	Name    string `json:"name"`
	Owned   bool   `json:"owned"`
	Sandbox string `json:"sandbox"`
}

func newResult(t *record.Trajectory, f record.Folder, at site.About) result {
	byRole := map[string]record.Usage{}
	maps.Copy(byRole, t.ByRole)
	r := result{
		Answer: t.Answer(), Summary: t.Summary(), Standing: t.Standing(),
		Label: t.SummaryLabel(), Worth: t.InWords(), Verified: t.Verified(), Sufficient: t.Sufficient(),
		Inconclusive: t.Inconclusive(), Readings: readingsOf(t),
		Decided:   append([]string{}, t.Decided()...),
		Perturbed: cmp.Or(t.Proof, &record.Proof{}).Perturbed,
		Doubts:    append([]string{}, t.Doubts()...), Rounds: t.RoundsTaken(), Steps: t.Steps(),
		RunDir: string(f), Notebook: f.Notebook(), Script: f.Script(), Trace: f.Trace(),
		Files: delivered(t, f), Usage: resultUsage{t.Usage, t.Cost, byRole},
		Warnings: append([]string{}, t.Warnings...), Seconds: t.Seconds, Rows: rowsOf(t), Receipts: []record.Receipt{}, Definitions: []map[string]string{},
	}
	for _, d := range t.Used() {
		r.Definitions = append(r.Definitions, map[string]string{"term": d.Term, "place": d.Place, "digest": d.Digest()})
	}
	if t.Final != nil {
		r.Receipts = append(r.Receipts, t.Final.Receipts...)
	}
	if at.Name != "" {
		r.Kernel = &resultKernel{Name: at.Name, Owned: at.Running == nil, Sandbox: at.Sandbox}
	}
	return r
}

// rowsOf returns what was counted of the rows of the accepted cells.
func rowsOf(t *record.Trajectory) []resultRows {
	all := []resultRows{}
	for i, r := range t.Accepted() {
		if a := r.Accepted(); len(a.Rows) > 0 {
			all = append(all, resultRows{i + 1, a.Rows})
		}
	}
	if a := t.FinalCell(); len(a.Rows) > 0 {
		all = append(all, resultRows{0, a.Rows})
	}
	return all
}

// readingsOf returns the options of the open readings that change the answer, and of those of the
// earlier questions on which it builds.
func readingsOf(t *record.Trajectory) []resultReading {
	all := []resultReading{}
	on := append(t.BuildsOn(), t.Earlier())
	for _, c := range chooseable(t) {
		if !slices.Contains(on, c.question) {
			continue
		}
		part := t.Part(c.question)
		r := part.Readings[c.reading]
		o := r.Options[c.option]
		one := resultReading{Point: r.Point, Reading: o.Text, Answer: o.Answer, Choose: c.name}
		if len(o.Files) > 0 {
			one.Differs = o.Differs
		}
		if c.option == r.Chosen {
			one.Answer, one.Chosen, one.Evidence = part.Answer(), true, r.Evidence
		}
		all = append(all, one)
	}
	return all
}

// forPeople reports whether the answer is printed as text for people.
func (a *app) forPeople(j job) bool {
	return !j.json && (j.answer == "text" || j.answer == "" && a.stdoutTTY)
}

// say prints the answer, with the paths of its files.
func (a *app) say(j job, t *record.Trajectory, files []string) error {
	if a.forPeople(j) {
		_, err := fmt.Fprintln(a.stdout, inWords(t, files))
		return err
	}
	if _, err := fmt.Fprintln(a.stdout, t.Answer()); err != nil {
		return err
	}
	for _, path := range files {
		j.progress.Paste("written  %s", path)
	}
	return nil
}

// inWords is the answer for people: itself, with what it is worth; the answers under other
// readings; the model's sentences; and the paths of files.
func inWords(t *record.Trajectory, files []string) string {
	mark := " "
	if strings.Contains(t.Answer(), "\n") {
		mark = "\n"
	}
	text := "Answer, " + t.Label() + ":" + mark + t.Answer()
	for _, r := range t.OpenReadings() {
		text += "\n\nIt depends on a reading: " + r.InWords(t.Answer())
	}
	if t.Summary() != "" {
		text += "\n\n" + t.SummaryLabel() + ":\n" + t.Summary()
	}
	if len(files) > 0 {
		text += "\n\n" + strings.Join(files, "\n")
	}
	return text
}

// maxPictures is the number of pictures that are named besides the files of the answer.
const maxPictures = 5

// delivered returns the paths of the files that are part of the answer, and of the first pictures
// that cells have written. Links are not followed.
func delivered(t *record.Trajectory, folder record.Folder) []string {
	given, paths, pictures := t.Given(), []string{}, 0
	_ = filepath.WalkDir(folder.Files(), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir
		}
		name, _ := filepath.Rel(folder.Files(), path) // which it is in
		asked := slices.Contains(given, filepath.ToSlash(name))
		if picture := record.IsPicture(name) || filepath.Ext(name) == ".pdf"; entry.Type().IsRegular() &&
			(asked || picture && pictures < maxPictures) {
			paths = append(paths, path)
			if !asked {
				pictures++
			}
		}
		return nil
	})
	return paths
}
