// Package record holds what a run did, its [Trajectory], and says what that makes of the answer. A
// [Folder] is what a run leaves on disk. Package page draws the notebook.
package record

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"dsstar/agent/definitions"
	"dsstar/agent/files"
	"dsstar/agent/journal"
	"dsstar/agent/llm"
	"dsstar/agent/memory/lesson"
	"dsstar/notebook"
	"dsstar/notebook/compare"
	"dsstar/notebook/lists"
)

// A Trajectory is the whole record of a run.
type Trajectory struct {
	Task         Task          `json:"task"` // its question is that of Question
	Method       Method        `json:"method,omitzero"`
	Environment  string        `json:"environment,omitempty"` // Python and its packages
	Sandbox      string        `json:"sandbox,omitempty"`     // of the cells of the last question
	Descriptions []Description `json:"descriptions,omitempty"`
	Variables    []Variable    `json:"variables,omitempty"` // of somebody else's session
	Recalled     *Recalled     `json:"recalled,omitempty"`  // of the memory of the data; nil: nothing
	Described    bool          `json:"described,omitempty"` // all files that the model is shown are
	UsedOnly     bool          `json:"used_only,omitempty"` // of such functions, only those used
	*Question    `json:"-"`    // that is being answered, or was last: the last of Questions
	Questions    []*Question   `json:"questions"`
	Later        []*Question   `json:"later,omitempty"`   // that wait for those before
	Learned      *Learned      `json:"learned,omitempty"` // for the memory; nil: not asked for
	Notes        []Note        `json:"left,omitempty"`    // of a person to the agent
	Remarks      []Remark      `json:"-"`                 // the notebook has them where they belong
	Scripts      []string      `json:"scripts,omitempty"` // digests of the last two solution.py
	Choice       Choice        `json:"choice,omitzero"`   // of the models, by the user
	Warnings     []string      `json:"warnings,omitempty"`
	Ended        bool          `json:"ended"`
	Failure      string        `json:"failure,omitempty"` // what ended the run early, in one line

	Journal *journal.Journal `json:"journal,omitempty"` // what was learned from outside
	Sizes   Sizes            `json:"sizes,omitzero"`    // of what the first requests showed

	From string `json:"from,omitempty"` // digest of the notebook of the answer that the run goes on from

	// Adopted: another dsstar began the run, so that cells of a stranger may be among its cells.
	Adopted bool `json:"adopted,omitempty"`

	Started time.Time `json:"started"`
	Spent
	Seconds Seconds `json:"seconds"`

	Seal Seal `json:"-"` // of the notebook that it was read from
}

// A Method says which method a run follows, and what is left out of it. The zero value is dsstar's
// own method; docs/method.md describes both.
type Method struct {
	Agent      string `json:"agent,omitempty"`       // whose it is; "": dsstar, see [agent.Baseline]
	Script     bool   `json:"script,omitempty"`      // as published: every round writes a script
	NoAnalyzer bool   `json:"no_analyzer,omitempty"` // the model sees names of files only
	NoRouter   bool   `json:"no_router,omitempty"`   // the paper's: steps are only added
	PlanOnly   bool   `json:"plan_only,omitempty"`   // the paper's: the verifier sees only the plan
	NoReadings bool   `json:"no_readings,omitempty"` // dsstar's: the first reply names no readings
	NoSecond   bool   `json:"no_second,omitempty"`   // dsstar's: the answer is derived once
}

// Profiles reports whether a program describes the files.
func (m Method) Profiles() bool { return !m.Script && !m.NoAnalyzer }

// A Task is a question about the files of a data folder.
type Task struct {
	Question   string `json:"question"`
	Guidelines string `json:"guidelines,omitempty"` // the form of the answer
	Data       string `json:"data"`                 // folder, relative to the run folder; or ""
	Files      []File `json:"files"`                // those that the model is shown
	Others     int    `json:"others,omitempty"`     // how many it is not shown
	Rest       string `json:"rest,omitempty"`       // the [files.Digest] of those
	LeftOut    string `json:"left_out,omitempty"`   // their names, as far as the model is told

	// Sources are what the names in the data folder lead to, if there are several or it is a file.
	// Paths are relative to the run folder or absolute; links may lead elsewhere by now.
	Sources []files.Source  `json:"sources,omitempty"`
	Skipped []files.Skipped `json:"skipped,omitempty"` // as unlikely to be data
	Mask    []string        `json:"mask,omitempty"`    // columns whose values no model sees
}

// In returns the sources by their names in a data folder: the folder itself if it is the only one.
func (t Task) In(data string) []files.Source {
	if len(t.Sources) == 0 {
		return []files.Source{{Path: data}}
	}
	return lists.Map(t.Sources, func(s files.Source) files.Source {
		return files.Source{Name: s.Name, Path: filepath.Join(data, s.Name), Database: s.Database}
	})
}

// Bytes returns the size of all files that the model is shown.
func (t Task) Bytes() (sum int64) {
	for _, f := range t.Files {
		sum += f.Size
	}
	return sum
}

// A File is a data file by its name below the data folder, with slashes.
type File = files.File

// A Description says what is in one file (DS-STAR, section 3.1).
type Description struct {
	File   string    `json:"file"`
	Text   string    `json:"text,omitempty"`   // the profile, or what the script printed
	Code   string    `json:"code,omitempty"`   // the script, with --paper
	Like   string    `json:"like,omitempty"`   // the file that Text tells the difference from
	Tries  int       `json:"tries,omitempty"`  // scripts that were run
	Failed []Attempt `json:"failed,omitempty"` // those that gave no description
	Error  string    `json:"error,omitempty"`  // why there is no text, in one line
	Near   int       `json:"near,omitempty"`   // rank by nearness to the question; 0: none

	Kind      string `json:"kind,omitempty"`      // from its name and beginning: "CSV, UTF-16"
	Profile   bool   `json:"profile,omitempty"`   // by a program
	Document  bool   `json:"document,omitempty"`  // it has text rather than tables
	Whole     bool   `json:"whole,omitempty"`     // Text has the file's whole content
	Corrected bool   `json:"corrected,omitempty"` // by a person
	Said      string `json:"said,omitempty"`      // what the person said, if the user has approved it
}

// DataDigest returns a digest of the data files as the trajectory has them.
func (t *Trajectory) DataDigest() string {
	return definitions.Digest([]any{t.Task.Files, t.Task.Rest})[:16]
}

// Recalled is what a run was given of the memory of its data.
type Recalled struct {
	Facts   []lesson.Fact `json:"facts,omitempty"`
	Tools   []lesson.Tool `json:"tools,omitempty"`
	Example *Example      `json:"example,omitempty"` // nil: no verified question is near
}

// An Example is a verified question about the same data, whose cells the first request is shown.
type Example struct {
	Question string `json:"question"`
	Form     string `json:"form,omitempty"` // of its answer
	Cells    string `json:"cells"`
}

// Learned is what a verified answer leaves for the memory of the data.
type Learned struct {
	Facts   []lesson.Fact `json:"facts,omitempty"`
	Tools   []lesson.Tool `json:"tools,omitempty"`    // each passed its cases in a fresh process
	LeftOut []string      `json:"left_out,omitempty"` // what was not admitted, with the reason
}

// A Variable is an object of a user's session. Once a cell has read it, Import, File or Problem is
// set.
type Variable struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Text    string `json:"text,omitempty"`    // its description; "" for functions and classes
	Import  string `json:"import,omitempty"`  // the statement that imports it
	File    string `json:"file,omitempty"`    // its pickle from before the run, below the run folder
	Bytes   int64  `json:"bytes,omitempty"`   // of that file
	Sum     string `json:"sum,omitempty"`     // its SHA-256
	Problem string `json:"problem,omitempty"` // why a fresh session cannot have it
}

// Known reports whether it is known how a fresh session gets the variable.
func (v Variable) Known() bool { return v.Import != "" || v.File != "" || v.Problem != "" }

// A Derived is what a derivation gave: the last cell, a second derivation, or the branch of a
// reading.
type Derived struct {
	Attempts []Attempt      `json:"attempts,omitempty"` // at its cell
	Answer   string         `json:"answer,omitempty"`
	Files    []compare.File `json:"files,omitempty"`   // asked for, or named by the answer
	Doubts   []string       `json:"doubts,omitempty"`  // from code, form and sentences, each a line
	Differs  string         `json:"differs,omitempty"` // how, from the accepted cells', in one line
}

// Compared returns what is compared of two derivations.
func (d Derived) Compared() compare.Answer {
	return compare.Answer{Words: d.Answer, Files: d.Files}
}

// Final is the last cell, which prints the answer, with the tries at it.
type Final struct {
	Derived
	Summary string `json:"summary,omitempty"` // sentences for people; the value of the last cell
	ByHand  bool   `json:"by_hand,omitempty"` // a person wrote the cell, or changed it

	Receipts []Receipt `json:"receipts,omitempty"` // of the numbers of the answer
}

// A Receipt says which rows of which files are behind a number: "2,263 of 4,722 rows of orders.csv; …".
type Receipt struct {
	Number string `json:"number"`
	Behind string `json:"behind"` // "": it was not traced
}

// A Proof records how the accepted cells ran in a fresh, private session and the script in plain
// Python.
type Proof struct {
	Same    bool    `json:"same"`             // both printed the answer
	Reason  string  `json:"reason,omitempty"` // what differed or failed, in one line
	Unable  bool    `json:"unable,omitempty"` // no session could be opened: to be made yet
	Seconds float64 `json:"seconds"`

	Doubts []string `json:"doubts,omitempty"` // from what pandas did for the cells
	Notes  []string `json:"notes,omitempty"`  // for readers: no reason to doubt the answer
	Apart  []int    `json:"apart,omitempty"`  // indexes of earlier questions it does not build on
	// Perturbed says whether what the answer claims survives other data; it is no standing.
	Perturbed string `json:"perturbed,omitempty"`
}

// A Remark is a Markdown or raw cell of the person's own, which keeps its place in the notebook.
type Remark struct {
	After string // id of dsstar's cell before it; "" for the beginning
	Cell  notebook.Cell
}

// A Choice says how the user named the models of a run. It holds no key.
type Choice struct {
	Model    string            `json:"model"`              // provider/name, or demo
	Roles    map[string]string `json:"roles,omitempty"`    // those that have another model
	Endpoint string            `json:"endpoint,omitempty"` // of Model, without credentials
}

// Sizes are how much of what there is the model is shown, in bytes.
type Sizes struct {
	Result      int `json:"result"`            // of one step's output
	Results     int `json:"results"`           // of all outputs together
	Description int `json:"description"`       // of one file's description
	Context     int `json:"context"`           // of all descriptions together
	Earlier     int `json:"earlier,omitempty"` // of all earlier questions together; 0: no limit
}

// Spent is what the model calls of a run have used.
type Spent struct {
	Usage  Usage            `json:"usage"`
	ByRole map[string]Usage `json:"by_role,omitempty"`
	Cost   *float64         `json:"cost_usd,omitempty"` // nil: a price is not known
	Models []string         `json:"models,omitempty"`   // that answered
}

// Usage is what some of them have used.
type Usage struct {
	Calls int `json:"calls"`
	llm.Usage
}

// Seconds is where the time of a run went. Calls and cells at the same time count each.
type Seconds struct {
	Total  float64 `json:"total"`
	Model  float64 `json:"model"`  // of model calls
	Kernel float64 `json:"kernel"` // of kernels that started or ran code
}

// New returns the trajectory of a run that begins with a task.
func New(task Task, q Question) *Trajectory {
	q.Text, q.Guidelines = task.Question, task.Guidelines
	return &Trajectory{Task: task, Question: &q, Questions: []*Question{&q},
		Journal: &journal.Journal{}}
}

// UnmarshalJSON reads a trajectory, at its last question.
func (t *Trajectory) UnmarshalJSON(data []byte) error {
	type plain Trajectory
	t.Journal = &journal.Journal{}
	err := json.Unmarshal(data, (*plain)(t))
	all := slices.Concat(t.Questions, t.Later)
	if err == nil && (len(t.Questions) == 0 || slices.Contains(all, nil)) {
		err = errors.New("it has no question")
	}
	if err == nil {
		t.enter(len(t.Questions) - 1)
	}
	return err
}

// enter goes to question k, from 0.
func (t *Trajectory) enter(k int) {
	t.Question = t.Questions[k]
	t.Task.Question, t.Task.Guidelines = t.Text, t.Question.Guidelines
}

// Part returns the trajectory as it was when question k, from 0, was answered; the last one is t
// itself.
func (t *Trajectory) Part(k int) *Trajectory {
	if k >= len(t.Questions)-1 {
		return t
	}
	view := *t
	view.Questions, view.Later, view.Ended, view.Failure = t.Questions[:k+1], nil, true, ""
	view.enter(k)
	return &view
}

// CorrectedBy returns the number of the last question that corrects the answer to question k, from
// 0; 0: none does.
func (t *Trajectory) CorrectedBy(k int) (by int) {
	for i, q := range t.Questions {
		if slices.Contains(q.Corrects, k+1) {
			by = i + 1
		}
	}
	return by
}

// Earlier returns the number of questions before the last one.
func (t *Trajectory) Earlier() int { return len(t.Questions) - 1 }

// Before returns the number of rounds of the questions before the last one: those of a run are
// counted on.
func (t *Trajectory) Before() (n int) {
	for _, q := range t.Questions[:t.Earlier()] {
		n += q.Count()
	}
	return n
}

// RoundsTaken returns the number of rounds of all questions.
func (t *Trajectory) RoundsTaken() int { return t.Before() + t.Count() }

// Digest returns the hash by which an edited source is recognized.
func Digest(source string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(source)))[:12] }

// Check validates numbers of options and files, and that rounds that a person left have cells,
// since the notebook may be damaged.
func (t *Trajectory) Check() error {
	wrong := len(t.Descriptions) > len(t.Task.Files)
	for _, q := range slices.Concat(t.Questions, t.Later) {
		for _, r := range slices.Concat(q.Rest, cmp.Or(q.Start, &Start{}).Given) {
			wrong = wrong || len(r.Attempts) == 0
		}
		for _, r := range q.Readings {
			n := len(r.Options)
			wrong = wrong || r.Problem == "" && (n < 2 || r.Chosen < 0 || r.Chosen >= n)
			for _, k := range r.Together {
				wrong = wrong || k < 0 || k >= len(q.Readings) || q.Readings[k].Problem != ""
			}
		}
	}
	if wrong {
		return errors.New("its record is damaged: it names options, files or cells that it does not have")
	}
	return nil
}
