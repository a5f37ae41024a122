package record

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"dsstar/agent/brief"
)

// cells.py has the code of dsstar's own cells.
//
//go:embed cells.py
var cellsCode string

// part returns a part of cells.py, with names in capitals replaced: pairs of a name and a text.
func part(name string, replace ...string) string {
	_, rest, _ := strings.Cut(cellsCode, "\n# == "+name+"\n")
	code, _, _ := strings.Cut(rest, "\n\n# == ")
	return strings.NewReplacer(replace...).Replace(strings.TrimSuffix(code, "\n"))
}

// setupCell follows the parameters in every notebook and script. It must work in the session, with
// Run All, nbconvert, papermill and plain Python, and when run twice.
var setupCell = part("setup") + "\n" + seeds

const seeds = "random.seed(0)\nnp.random.seed(0)"

// Reseeded returns a script with other random numbers. An answer that is right in general does not
// depend on them.
func Reseeded(script string) string {
	return strings.Replace(script, seeds, strings.ReplaceAll(seeds, "0", "1"), 1)
}

// SetUpCell returns setupCell, without its data part if the task has no data folder, and with the
// databases that it has.
func SetUpCell(t Task) string {
	code := setupCell + connect(t.Sources)
	if code != setupCell {
		return code
	}
	if t.Data != "" {
		return setupCell
	}
	before, rest, _ := strings.Cut(setupCell, `if os.path.islink("data")`)
	_, after, _ := strings.Cut(rest, "target_is_directory=True)\n")
	return strings.Replace(before, ", and see the data folder as data/", "", 1) + after
}

// parametersCell returns the cell that sets the data folder and the question.
func parametersCell(t Task) string {
	question := "question = " + brief.Python(t.Question)
	if t.Data == "" {
		return question
	}
	return "data_dir = " + brief.Python(t.Data) + "\n" + question
}

// SetUpNames returns the names that the notebook's own cells bind. No cell sees a user's variables
// of these names.
func SetUpNames() []string {
	return []string{
		"data_dir", "question", "base_dir", "data_path", "os", "random", "np", "pickle", "__file__",
	}
}

// Uncarried explains that a cell failed in the fresh session as it uses a variable that could not
// be carried there; "" if it uses none.
func (t *Trajectory) Uncarried(code string) string {
	used := words(code)
	for _, v := range t.Variables {
		if v.Problem != "" && used[v.Name] {
			return fmt.Sprintf("unproved: the variable %s (%s) cannot be carried to a fresh session: %s",
				v.Name, v.Type, v.Problem)
		}
	}
	return ""
}

// Opening returns the cells before the first step: parameters, set-up, if later cells use variables
// of a user's session the cell that loads them, and the functions of memory if there are any.
func (t *Trajectory) Opening() []Titled { return t.opening("") }

// opening is Opening with another cell, which is to run next.
func (t *Trajectory) opening(next string) []Titled {
	cells := []Titled{
		{RoleParameters, "Parameters", parametersCell(t.Part(0).Task)},
		{RoleSetup, "Set-up", SetUpCell(t.Task)},
	}
	if code := t.variablesCell(next); code != "" {
		cells = append(cells, Titled{RoleVariables, "Variables", code})
	}
	if code := t.toolsCell(); code != "" { // last: the second derivation begins before it
		cells = append(cells, Titled{RoleTools, "Functions", code})
	}
	return cells
}

// variablesCell returns the cell that loads the variables that other cells use. A session that has
// them keeps its own, unless this cell loaded them before: cells may have changed them since.
func (t *Trajectory) variablesCell(next string) string {
	var imports, names []string
	for _, v := range t.Loaded(next) {
		if v.Import != "" {
			imports = append(imports, v.Import)
		} else {
			names = append(names, brief.Python(v.Name))
		}
	}
	load := ""
	if len(names) > 0 {
		load = part("variables", "NAMES", strings.Join(names, ", "))
	}
	if code := strings.Trim(strings.Join(imports, "\n")+"\n\n"+load, "\n"); code != "" {
		return VariablesComment + "\n" + code
	}
	return ""
}

// VariablesComment begins the cell that loads variables.
const VariablesComment = "# What these cells use of the session in which they were written, " +
	"for a session that has none of it."

// Loaded returns the variables that the cells, and one that is to run next, use and a fresh session
// must load.
func (t *Trajectory) Loaded(next string) (all []Variable) {
	if len(t.Variables) == 0 {
		return nil
	}
	used := words(strings.Join(codes(t.AskedCells()), "\n") + "\n" + next)
	for _, v := range t.Variables {
		if used[v.Name] && (v.Import != "" || v.File != "") {
			all = append(all, v)
		}
	}
	return all
}

// words returns the set of words in code, which includes its names.
func words(code string) map[string]bool {
	words := map[string]bool{}
	between := func(c rune) bool { return c != '_' && !unicode.IsLetter(c) && !unicode.IsNumber(c) }
	for w := range strings.FieldsFuncSeq(code, between) {
		words[w] = true
	}
	return words
}

// Variables returns the path of the folder with the carried variables, which may not exist yet.
func (f Folder) Variables() string { return filepath.Join(string(f), variablesFolder) }

// Lend makes the run folder's variables available to cells that run in dir.
func (f Folder) Lend(dir string) error {
	if info, err := os.Lstat(f.Variables()); err != nil || dir == "" {
		return nil // there are none, or no session
	} else if !info.IsDir() {
		return fmt.Errorf("lend the variables: %s is not a folder, as a run leaves it", f.Variables())
	}
	if err := os.Symlink(f.Variables(), filepath.Join(dir, variablesFolder)); err != nil {
		return fmt.Errorf("lend the variables: %w", err)
	}
	return nil
}

// variablesFolder is the name of that folder.
const variablesFolder = "variables"
