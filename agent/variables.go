package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dsstar/notebook"
	"dsstar/prompts"
)

// A Host is a [Session] that is somebody else's, whose variables are data. An
// error leaves the session as it was.
type Host interface {
	// Variables describes the variables that the user has there. It changes and
	// computes nothing.
	Variables(ctx context.Context) ([]Variable, error)
	// Carry makes what a cell, which is about to run, reads of the user's variables
	// ready for a session that has none of them, and returns it.
	Carry(ctx context.Context, what Reading) ([]Variable, error)
	// Leave is called once, after the last cell. It returns what the user should
	// know about what the cells leave behind.
	Leave(ctx context.Context, carried []Variable) (warnings []string, err error)
}

// A Variable is an object that somebody's session had before the run, under its
// name. Once a cell has read it, it has an Import, a File or a Problem.
type Variable struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Text    string `json:"text,omitempty"`    // its description; "" for functions and classes
	Import  string `json:"import,omitempty"`  // the statement that gives a session what has this name
	File    string `json:"file,omitempty"`    // with what was pickled before the first cell read it, below the run folder
	Bytes   int64  `json:"bytes,omitempty"`   // of that file
	Problem string `json:"problem,omitempty"` // why a fresh session cannot have it
}

// read reports whether it is known how a fresh session comes by v.
func (v Variable) read() bool { return v.Import != "" || v.File != "" || v.Problem != "" }

// A Reading is what there is to carry.
type Reading struct {
	Code   string
	Before []string // the cells before it, whose names are not the user's
	Known  []string // names that have been carried, or cannot be
	Room   int64    // bytes that may be written
}

// MaxCarried is how much of the user's variables a run writes to files.
const MaxCarried = 1 << 30

// variablesFolder is where they are, in the run folder.
const variablesFolder = "variables"

// Variables is the folder of the variables that were carried; it is there if
// there are some.
func (f Folder) Variables() string { return filepath.Join(string(f), variablesFolder) }

// SetUpNames returns the names that the notebook's own cells bind: a user's
// variables of these names are not seen by any cell.
func SetUpNames() []string {
	return []string{"data_dir", "question", "base_dir", "data_path", "os", "random", "np", "pickle", "__file__"}
}

// meet has the variables of a session described that is not the run's own.
func (r *run) meet(ctx context.Context) error {
	var host bool
	if r.host, host = r.session.(Host); !host {
		return nil
	}
	stop := r.kernel.start()
	all, err := r.host.Variables(ctx)
	stop()
	if err != nil {
		return r.shy(ctx, "the variables of the session are not described", err)
	}
	for i, v := range all { // those that the run had read stay as they were
		n := slices.IndexFunc(r.t.Variables, func(o Variable) bool { return o.Name == v.Name && o.read() })
		if n < 0 {
			continue
		}
		if was := r.t.Variables[n]; was.Text != v.Text {
			return &EditError{fmt.Sprintf("the variable %s of the session is not what it was when cells of this run read it: ask in a new run", v.Name)}
		}
		all[i] = r.t.Variables[n]
	}
	if r.t.Variables = all; len(all) == 0 {
		return nil
	}
	names := make([]string, len(all))
	for i, v := range all {
		names[i] = v.Name
	}
	return r.observe(Event{Kind: Met, Text: strings.Join(names, ", ")})
}

// shy goes on without what a host could not do, unless the run has ended.
func (r *run) shy(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return r.observe(Event{Kind: Warned, Text: fmt.Sprintf("%s: %v", what, err)})
}

// carry makes the user's variables that a cell reads ready for a fresh session,
// before the cell can change them in place.
func (r *run) carry(ctx context.Context, code string) error {
	if r.host == nil {
		return nil
	}
	what := Reading{Code: code, Before: r.t.base(), Room: MaxCarried}
	for _, v := range r.t.Variables {
		if v.read() {
			what.Known = append(what.Known, v.Name)
			what.Room -= v.Bytes
		}
	}
	carried, err := r.host.Carry(ctx, what)
	if err != nil {
		return r.shy(ctx, "what the cell reads of the session's variables is not carried to a fresh session", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.Clone(r.t.Variables) // whoever has the trajectory may still read the old ones
	for _, v := range carried {
		if i := slices.IndexFunc(all, func(o Variable) bool { return o.Name == v.Name }); i >= 0 {
			v.Text = all[i].Text
			all[i] = v
		} else {
			all = append(all, v)
		}
	}
	r.t.Variables = all
	return nil
}

// leavePatience is how long a session may take to say what the cells leave behind.
const leavePatience = 20 * time.Second

// takeLeave tells what the cells leave behind in somebody's session, however the
// run has ended.
func (r *run) takeLeave(ctx context.Context) error {
	if r.host == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leavePatience)
	defer cancel()
	var carried []Variable
	for _, v := range r.t.Variables {
		if v.File != "" {
			carried = append(carried, v)
		}
	}
	warnings, err := r.host.Leave(ctx, carried)
	if err != nil {
		return r.shy(ctx, "what the cells leave behind is not known", err)
	}
	for _, w := range warnings {
		if err := r.observe(Event{Kind: Warned, Text: w}); err != nil {
			return err
		}
	}
	return nil
}

// Lend lets cells that run in dir find the variables of the run folder.
func (f Folder) Lend(dir string) error {
	if _, err := os.Stat(f.Variables()); err != nil || dir == "" {
		return nil // there are none, or no session
	}
	if err := os.Symlink(f.Variables(), filepath.Join(dir, variablesFolder)); err != nil {
		return fmt.Errorf("lend the variables: %w", err)
	}
	return nil
}

// uncarried is why a cell failed in the fresh session: for one that uses a
// variable which could not be carried, that.
func (t *Trajectory) uncarried(code string, e notebook.Execution, reason string) string {
	used := wordsOf(code)
	for _, v := range t.Variables {
		if v.Problem == "" || !used[v.Name] {
			continue
		}
		text := fmt.Sprintf("unproved: the variable %s (%s) cannot be carried to a fresh session: %s", v.Name, v.Type, v.Problem)
		for _, o := range e.Outputs {
			if o.EName == "NameError" && wordsOf(o.EValue)[v.Name] {
				return text
			}
		}
		return text + "; " + reason
	}
	return reason
}

// opening returns the cells that no model has written: parameters, set-up and,
// where the others use somebody's variables, the cell that loads those.
func (t *Trajectory) opening() []titled {
	cells := []titled{{"Parameters", parametersCell(t.part(0).Task)}, {"Set-up", setUpCell(t.Task)}}
	if code := t.variablesCell(); code != "" {
		cells = append(cells, titled{"Variables", code})
	}
	return cells
}

// variablesCell loads the variables that the cells use. A session that has them
// already keeps its own, unless they are what this cell has loaded before: then
// cells may have changed them, and Run All begins from the files again.
func (t *Trajectory) variablesCell() string {
	var imports, names []string
	for _, v := range t.loaded() {
		if v.Import != "" {
			imports = append(imports, v.Import)
		} else {
			names = append(names, pyString(v.Name))
		}
	}
	var parts []string
	if len(imports) > 0 {
		parts = append(parts, strings.Join(imports, "\n"))
	}
	if len(names) > 0 {
		parts = append(parts, fmt.Sprintf(loadCode, strings.Join(names, ", ")))
	}
	if len(parts) == 0 {
		return ""
	}
	return "# What these cells use of the session in which they were written, for a session that has none of it.\n" + strings.Join(parts, "\n\n")
}

// loaded returns the variables that a fresh session gets: those that the cells use.
func (t *Trajectory) loaded() (all []Variable) {
	var cells []titled
	for k := range len(t.Earlier) + 1 {
		cells = append(cells, t.part(k).own()...)
	}
	used := wordsOf(strings.Join(codes(cells), "\n"))
	for _, v := range t.Variables {
		if used[v.Name] && (v.Import != "" || v.File != "") {
			all = append(all, v)
		}
	}
	return all
}

const loadCode = `import pickle

_loaded = globals().setdefault("_loaded", set())
for _name in [%s]:
    if _name in _loaded or _name not in globals():
        with open(os.path.join(base_dir, "variables", _name + ".pickle"), "rb") as _file:
            globals()[_name] = pickle.load(_file)
        _loaded.add(_name)`

var wordPattern = lazy(`[\p{L}\p{N}_]+`)

// wordsOf returns the words of code, names among them.
func wordsOf(code string) map[string]bool {
	words := map[string]bool{}
	for _, w := range wordPattern().FindAllString(code, -1) {
		words[w] = true
	}
	return words
}

// shownVariables returns the variables that the model is told of, with their
// descriptions as far as there is room, for the nearest to the question first,
// and the names of the others. Its caller holds mu, or is the only one to use r.
func (r *run) shownVariables() (told []prompts.Variable, others string) {
	var texts []string
	var described []Variable
	var rest strings.Builder
	all := r.t.Variables
	if r.host == nil {
		all = r.t.loaded() // the session of a run that goes on elsewhere has no others
	}
	for _, v := range all {
		if v.Text != "" {
			described, texts = append(described, v), append(texts, v.Name+"\n"+v.Name+"\n"+v.Text)
		} else if v.Import == "" {
			fmt.Fprintf(&rest, "%s: %s\n", v.Name, v.Type)
		}
	}
	room, taken := r.shown.context/2, make([]bool, len(described))
	for _, n := range byWords(r.t.Task.Question, texts) {
		if taken[n] = len(described[n].Text) <= room; taken[n] {
			room -= len(described[n].Text)
		}
	}
	for n, v := range described {
		if taken[n] {
			told = append(told, prompts.Variable{Name: v.Name, Type: v.Type, Description: v.Text})
		} else {
			fmt.Fprintf(&rest, "%s: %s\n", v.Name, v.Type)
		}
	}
	return told, clipLines(rest.String(), r.shown.description/4)
}

// variableWords is what the model is told of variables, for the inputs of a request.
func variableWords(c prompts.Context) string {
	var b strings.Builder
	for _, v := range c.Variables {
		fmt.Fprintf(&b, "%s: %s\n%s\n", v.Name, v.Type, v.Description)
	}
	return b.String() + c.OtherVariables
}

// showVariables shows somebody's variables to a reviewer.
func showVariables(t *Trajectory) string {
	var b strings.Builder
	var others []string
	for _, v := range t.Variables {
		if v.Text == "" && v.Problem == "" {
			if v.Import == "" {
				others = append(others, prose("`"+v.Name+"`"))
			}
			continue
		}
		title := fmt.Sprintf("<code>%s</code> · %s", inHTML(v.Name), inHTML(v.Type))
		switch {
		case v.File != "":
			title += fmt.Sprintf(" · used, and kept in <code>%s</code>, %s", inHTML(v.File), fileSize(v.Bytes))
		case v.Problem != "":
			title += " · used, and not to be carried to another session: " + inHTML(v.Problem)
		}
		b.WriteString(folded(title, fenced(v.Text, "")))
	}
	if len(others) > 0 {
		fmt.Fprintf(&b, "\nFunctions and classes of the session: %s.\n", strings.Join(others, ", "))
	}
	if b.Len() == 0 {
		return ""
	}
	return "\nThe cells ran in a session that had variables of its own:\n" + b.String()
}
