package site

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"dsstar/agent"
	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/kernel"
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

// Variables describes the user's variables.
func (v visit) Variables(ctx context.Context) ([]record.Variable, error) {
	var all []record.Variable
	err := v.put(ctx, "describe", map[string]any{"seconds": describingTime.Seconds(),
		"chars": variableChars, "most": variablesMost}, answerTime, &all)
	return all, err
}

// Carry pickles the variables that a cell reads into the run folder.
func (v visit) Carry(ctx context.Context, code string, before []string,
	known []record.Variable) ([]record.Variable, error) {
	var carried []record.Variable
	err := v.put(ctx, "carry", map[string]any{"code": code, "before": before, "known": known,
		"limit": maxCarried}, carryingTime, &carried)
	return carried, err
}

// Leave reports what cells have changed in place, and keeps the names of --keep.
func (v visit) Leave(ctx context.Context,
	known []record.Variable) (warnings []string, err error) {
	var left struct{ Changed, Unbound []string }
	if err := v.put(ctx, "leave", map[string]any{"seconds": comparingTime.Seconds(), "limit": compared,
		"known": known, "keep": v.keep}, answerTime, &left); err != nil {
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

// put has variables.py answer a request in the kernel, within limit.
func (v visit) put(ctx context.Context, ask string, request map[string]any, limit time.Duration,
	into any) error {
	mark := rand.Text()
	request["ask"], request["mark"] = ask, mark
	request["folder"], request["reserved"] = v.folder.Variables(), record.SetUpNames
	asked, err := json.Marshal(request)
	if err != nil {
		return err
	}
	script, _ := json.Marshal(variablesCode) // strings cannot fail
	code := fmt.Sprintf(`exec(%s, {"__name__": "dsstar", "shell": get_ipython(), "visit": %s,
    "request": __import__("json").loads(%s)})`, script, v.Visit(), brief.Python(string(asked)))
	e, err := v.ExecuteCell(ctx, kernel.Cell{Code: code, Timeout: limit})
	if err != nil {
		return err
	}
	for line := range strings.Lines(e.Stdout()) {
		if _, answer, ok := strings.Cut(line, mark+" "); ok { // a thread may have written before it
			return json.Unmarshal([]byte(answer), into)
		}
	}
	said := e.PlainText()
	if raised, ok := e.Error(); ok {
		said = raised.EName + ": " + raised.EValue
	}
	return fmt.Errorf("the kernel does not respond: %s", ui.Fit(said, 300))
}
