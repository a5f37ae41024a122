package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"dsstar/notebook"
)

// A Session is a live kernel as the agent needs it. What a cell's code can
// cause is in the Execution; an error is something that it cannot cause and
// ends the run.
type Session interface {
	// Execute runs one cell.
	Execute(ctx context.Context, code string) (notebook.Execution, error)
	// Rollback puts the session into exactly the state, files of the working
	// folder included, that the cells produce from an empty session, and
	// returns what they gave. It stops at a cell that fails.
	Rollback(ctx context.Context, cells []string) (notebook.Restoration, error)
	Close() error
}

// A Purpose says what a session is opened for.
type Purpose int

const (
	Describe Purpose = iota // run the scripts that describe files
	Work                    // the run's own session
	Prove                   // run the accepted cells from nothing, in the place of the run's own session
)

// A Lasting session stays when the run has ended: Close leaves it running, and End
// ends it all the same.
type Lasting interface {
	Session
	End() error
}

// Open opens a private session that starts in dir; dir/files is the folder
// that its cells may write to. The caller closes it. Those to Work and to Prove
// are opened in the run folder, one after the other, and must look the same to a
// cell.
type Open func(ctx context.Context, purpose Purpose, dir string) (Session, error)

// setupCell follows the parameters in every notebook and script. The same code
// serves the session, Run All, nbconvert, papermill and plain Python, and may
// be run twice in one session.
const setupCell = `# Set-up: cells work in files/, next to this notebook, and see the data folder as data/.
import os
import random

import numpy as np

base_dir = globals().get("base_dir") or os.path.dirname(os.path.abspath(globals().get("__file__", "notebook")))
os.makedirs(os.path.join(base_dir, "files"), exist_ok=True)
os.chdir(os.path.join(base_dir, "files"))
if os.path.islink("data"):
    os.remove("data")
data_path = os.path.abspath(os.path.join(base_dir, data_dir))
if not os.path.isdir(data_path):
    raise FileNotFoundError(f"the data folder is not at {data_path}: set data_dir in the cell above")
os.symlink(data_path, "data", target_is_directory=True)

# The same random numbers on every run.
random.seed(0)
np.random.seed(0)`

// setUpCell is setupCell, or what it leaves of it where there is no data folder.
func setUpCell(t Task) string {
	if t.Data != "" {
		return setupCell
	}
	before, rest, _ := strings.Cut(setupCell, `if os.path.islink("data")`)
	_, after, _ := strings.Cut(rest, "target_is_directory=True)\n")
	return strings.Replace(before, ", and see the data folder as data/", "", 1) + after
}

func parametersCell(t Task) string {
	question := "question = " + pyString(t.Question)
	if t.Data == "" {
		return question
	}
	return "data_dir = " + pyString(t.Data) + "\n" + question
}

// controls are those that JSON leaves as they are; to some they are line breaks.
var controls = lazy("[\u007f-\u009f]")

// pyString returns s as a Python string literal in one line; a JSON string is one.
func pyString(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string cannot fail
	literal := strings.TrimSuffix(b.String(), "\n")
	return controls().ReplaceAllStringFunc(literal, func(c string) string { return fmt.Sprintf("\\u%04x", []rune(c)[0]) })
}
