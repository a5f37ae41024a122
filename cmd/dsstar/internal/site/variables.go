package site

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"dsstar/agent"
	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/kernel"
	"dsstar/notebook"
	"dsstar/notebook/disk"
)

//go:embed variables.py
var variablesCode string

// Limits on what is asked about the user's variables.
const (
	variableChars  = 1800            // of one description
	variablesMost  = 300             // variables that are described
	describingTime = 5 * time.Second // variables after it are described by type only
	comparingTime  = 10 * time.Second
	maxCarried     = 1 << 30  // bytes of the variables that a run writes to files
	compared       = 64 << 20 // bytes of a variable that are compared at the end
	answerTime     = 30 * time.Second
	carryingTime   = 5 * time.Minute
)

var _ agent.Host = visit{}

// A request is the input of variables.py.
type request struct {
	Ask      string            `json:"ask"` // "describe", "carry" or "leave"
	Mark     string            `json:"mark"`
	Seconds  float64           `json:"seconds"`
	Chars    int               `json:"chars"`
	Most     int               `json:"most"`
	Reserved []string          `json:"reserved"`
	Folder   string            `json:"folder"`
	Code     string            `json:"code"`
	Before   []string          `json:"before"`
	Limit    int64             `json:"limit"`
	Known    []record.Variable `json:"known"` // how a fresh session gets them is known
	Keep     []string          `json:"keep"`
}

// Variables describes the user's variables.
func (v visit) Variables(ctx context.Context) ([]record.Variable, error) {
	var all []record.Variable
	err := v.put(ctx,
		request{Ask: "describe", Seconds: describingTime.Seconds(), Chars: variableChars,
			Most: variablesMost}, answerTime, &all)
	return all, err
}

// Carry pickles the variables that a cell reads into the run folder.
func (v visit) Carry(ctx context.Context, code string, before []string,
	known []record.Variable) ([]record.Variable, error) {
	var carried []record.Variable
	r := request{Ask: "carry", Code: code, Before: before, Known: known, Limit: maxCarried}
	return carried, v.put(ctx, r, carryingTime, &carried)
}

// Leave reports what cells have changed in place, and keeps the names of --keep.
func (v visit) Leave(ctx context.Context,
	known []record.Variable) (warnings []string, err error) {
	var left struct{ Changed, Unbound []string }
	r := request{Ask: "leave", Seconds: comparingTime.Seconds(), Limit: compared, Known: known,
		Keep: v.keep}
	if err := v.put(ctx, r, answerTime, &left); err != nil {
		return nil, err
	}
	if len(left.Changed) > 0 {
		warnings = append(warnings,
			fmt.Sprintf("changed in place since cells first read them: %s. They stay changed; "+
				"%s has their earlier state",
				strings.Join(left.Changed, ", "), v.folder.Variables()))
	}
	for _, name := range left.Unbound {
		warnings = append(warnings, fmt.Sprintf("--keep %s: no cell has assigned this name", name))
	}
	return warnings, nil
}

// put runs variables.py in the kernel, within limit.
func (v visit) put(ctx context.Context, r request, limit time.Duration, into any) error {
	if v.Visit() == "" {
		return errors.New("the kernel is not IPython")
	}
	r.Mark, r.Folder, r.Reserved = rand.Text(), v.folder.Variables(), record.SetUpNames
	asked, err := json.Marshal(r)
	if err != nil {
		return err
	}
	script, _ := json.Marshal(variablesCode) // strings cannot fail
	code := fmt.Sprintf(
		`exec(%s, {"__name__": "dsstar", "shell": get_ipython(), "visit": %s, "request": __import__("json").loads(%s)})`,
		script, v.Visit(), brief.Python(string(asked)))
	e, err := v.ExecuteCell(ctx, kernel.Cell{Code: code, Timeout: limit})
	if err != nil {
		return err
	}
	for line := range strings.Lines(e.Stdout()) {
		if _, answer, ok := strings.Cut(line, r.Mark+" "); ok { // a thread may have written before it
			return json.Unmarshal([]byte(answer), into)
		}
	}
	if e.Status == notebook.TimedOut {
		return fmt.Errorf("it took longer than %v", limit)
	}
	said := e.PlainText()
	for _, o := range e.Outputs {
		if o.Type == notebook.ErrorOutput {
			said = o.EName + ": " + o.EValue
		}
	}
	return fmt.Errorf("the kernel does not respond: %s", ui.Fit(said, 300))
}

// Names checks the names of --keep.
func Names(given []string) (names []string, err error) {
	for _, name := range given {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if strings.ContainsFunc(name,
			func(r rune) bool { return strings.ContainsRune(" .[](){}='\"-", r) }) {
			return nil, usage.New(fmt.Sprintf("--keep: %q is not the name of a variable", name),
				usage.Again("--keep", "total,by_store"), usage.Again("--keep", "all"))
		}
		names = append(names, name)
	}
	return names, nil
}

// Beside returns where to create run folders: in the folder of the notebook of a running kernel,
// where JupyterLab can open them; "" for here.
func Beside(k *kernel.Running, here string) string {
	if k == nil || k.Notebook == "" || k.Server.Root == "" {
		return ""
	}
	root, err := filepath.EvalSymlinks(k.Server.Root)
	if err != nil || disk.Inside(root, here) {
		return ""
	}
	folder, err := filepath.EvalSymlinks(filepath.Join(root, filepath.Dir(k.Notebook)))
	if err != nil || !disk.Inside(root, folder) {
		return ""
	}
	return folder
}
