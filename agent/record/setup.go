package record

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/files"
	"dsstar/agent/memory/lesson"
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

const seeds = "random.seed(0)\nnp.random.seed(0)"

// Reseeded returns a script with other random numbers. An answer that is right in general does not
// depend on them.
func Reseeded(script string) string {
	return strings.Replace(script, seeds, strings.ReplaceAll(seeds, "0", "1"), 1)
}

// SetUpCell returns the cell that follows the parameters in every notebook and script, with what the
// task has: data, databases, buckets, clusters. It must work in the session, with Run All, nbconvert,
// papermill and plain Python, and when run twice.
func SetUpCell(t Task) string {
	sees, data := "", ""
	if t.Data != "" {
		sees, data = ", and see the data folder as data/", part("data")+"\n"
	}
	return part("setup", "SEES", sees, "DATA", data) + "\n" + seeds + connect(t.Sources)
}

// addresses are examples of clusters' addresses, by their engines.
var addresses = map[string]string{"spark": "sc://host:15002", "dask": "tcp://host:8786", "ray": "ray://host:10001"}

// connect returns the end of the set-up cell: what makes the databases, buckets and clusters of the
// sources. Addresses and credentials come from variables of the environment, so that they are in no
// file. A connection to a database ends with its use, as copies of a session cannot share any; a
// cluster's client has threads and a connection, so that no copy of its session can use it.
func connect(sources []files.Source) (code string) {
	var databases, buckets, openers, clusters, scheme string
	for _, s := range files.Databases(sources) {
		entry := ", " + brief.Python(s.Engine()) + ": " + brief.Python(s.Variable())
		switch {
		case s.Is(files.BucketEnding):
			buckets += entry
			scheme, _, _ = strings.Cut(s.Database, "://")
			if opener := "\n" + part(scheme) + "\n\n"; !strings.Contains(openers, opener) {
				openers += opener
			}
		case s.Is(files.ClusterEnding):
			clusters += "\n\n" + part("cluster", "VARIABLE", brief.Python(s.Variable()),
				"ADDRESS", addresses[s.Engine()], "CLIENT", part(s.Engine()))
		default:
			databases += entry
		}
	}
	if databases != "" {
		code += "\n\n" + part("databases", "VARIABLES", "{"+databases[2:]+"}")
	}
	if buckets != "" {
		code += "\n\n" + part("buckets", "OPENERS", openers, "SCHEME", scheme, "VARIABLES", "{"+buckets[2:]+"}")
	}
	return code + clusters
}

// SetUpNames returns the names that the notebook's own cells bind. No cell sees a user's variables
// of these names.
func SetUpNames() []string {
	return []string{
		"data_dir", "question", "base_dir", "data_path", "os", "random", "np", "pickle", "__file__",
	}
}

// Opening returns the cells before the first step: parameters, set-up, if cells use variables of a
// user's session the cell that loads them, and the functions of memory if there are any.
func (t *Trajectory) Opening() []Titled {
	parameters := "question = " + brief.Python(t.Questions[0].Text)
	if t.Task.Data != "" {
		parameters = "data_dir = " + brief.Python(t.Task.Data) + "\n" + parameters
	}
	cells := []Titled{
		{RoleParameters, "Parameters", parameters},
		{RoleSetup, "Set-up", SetUpCell(t.Task)},
	}
	if code := t.variablesCell(); code != "" {
		cells = append(cells, Titled{RoleVariables, "Variables", code})
	}
	tools := t.UsedTools()
	if t.Recalled != nil && !t.UsedOnly {
		tools = t.Recalled.Tools
	}
	if len(tools) > 0 { // last: the second derivation begins before it
		cells = append(cells, Titled{RoleTools, "Functions", ToolsComment + "\n" + lesson.Module(tools)})
	}
	return cells
}

// variablesCell returns the cell that loads the variables that cells have read. A session that has
// them keeps its own, unless this cell loaded them before: cells may have changed them since.
func (t *Trajectory) variablesCell() string {
	code, names := "", ""
	for _, v := range t.Loaded() {
		if v.Import != "" {
			code += v.Import + "\n"
		} else {
			names += ", " + brief.Python(v.Name)
		}
	}
	if names != "" {
		code += "\n" + part("variables", "NAMES", names[2:])
	}
	if code == "" {
		return ""
	}
	return VariablesComment + "\n" + strings.Trim(code, "\n")
}

// VariablesComment begins the cell that loads variables.
const VariablesComment = "# What cells of this run have read of the session in which they were written, " +
	"for a session that has none of it."

// Loaded returns the variables that cells have read and a fresh session must load.
func (t *Trajectory) Loaded() []Variable {
	return slices.DeleteFunc(slices.Clone(t.Variables), func(v Variable) bool {
		return v.Import == "" && v.File == ""
	})
}

// Variables returns the path of the folder with the carried variables, which may not exist yet.
func (f Folder) Variables() string { return filepath.Join(string(f), variablesFolder) }

// Lend makes the run folder's variables available to cells that run in dir.
func (f Folder) Lend(dir string) error {
	info, err := os.Lstat(f.Variables())
	if err != nil || dir == "" {
		return nil // there are none, or no session
	}
	if !info.IsDir() {
		err = fmt.Errorf("%s is not a folder, as a run leaves it", f.Variables())
	} else {
		err = os.Symlink(f.Variables(), filepath.Join(dir, variablesFolder))
	}
	if err != nil {
		err = fmt.Errorf("lend the variables: %w", err)
	}
	return err
}

// variablesFolder is the name of that folder.
const variablesFolder = "variables"
