package site

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dsstar/agent"
	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/kernel/rewind"
	"dsstar/notebook"
)

// guest is a running kernel of the user's for the run's own session, and new kernels beside it, on
// the same machine or server, for everything else.
type guest struct {
	running  kernel.Running
	name     string // the argument of --kernel
	dial     bool   // connect through its server, not by its connection file
	host     Host
	settings *configs.Settings
	use      Use
	beside   Site
}

func (g *guest) About() About {
	a := About{Name: g.name, Running: &g.running, Spec: g.beside.About().Spec,
		Server: g.beside.About().Server, Sandbox: "none (attached)", Alone: true}
	a.Warnings = []string{fmt.Sprintf(
		"the cells ran in a kernel that was not the run's own, %s (%s): its names were there for them, "+
			"and going back undid names, not objects or files that were changed in place; "+
			"it goes on beside the proof, which is not apart from it", g.name, Identity(g.running))}
	kept := ""
	if len(g.use.Keep) > 0 {
		kept = ", but for " + strings.Join(g.use.Keep, ", ")
	}
	a.Consent = Consent{What: "attaching to a running kernel", Lines: []string{
		fmt.Sprintf("kernel   %s: %s", g.name, InState(g.running)),
		"         It is not dsstar's: it is not restarted or shut down. The model's cells run in its",
		"         session, unsandboxed, and use your variables, which are described to the model.",
		"         At the end the names are as they were" + kept + "; what is changed in place stays so.",
	}}
	if g.dial && g.running.Connections == 0 {
		a.Consent.Lines = append(a.Consent.Lines,
			"         Nobody is connected to it: output that its server keeps for whoever was is dropped.")
	}
	if g.running.State == "busy" {
		a.Consent.Lines = append(a.Consent.Lines, "         It is busy: the run waits for it.")
	}
	return a
}

func (g *guest) With(r Reach) Site {
	more := *g
	more.beside = g.beside.With(r)
	return &more
}

// Look also has new local kernels start the Python of the running one.
func (g *guest) Look(ctx context.Context, folders ...string) error {
	k, err := g.attach(ctx, kernel.Options{CellTimeout: g.settings.CellTimeout,
		StartTimeout: g.settings.StartTimeout})
	if err != nil {
		return err
	}
	python, err := look(ctx, k, cmp.Or(g.About().Server, "the kernel"), folders)
	if o, local := g.beside.(*own); local && err == nil {
		o.spec = kernel.PythonSpec(python)
	}
	return err
}

// attach connects to the kernel. Its server may drop output that it has buffered for another client
// with consent, or if nobody is connected.
func (g *guest) attach(ctx context.Context, o kernel.Options) (*kernel.Kernel, error) {
	if !g.dial {
		return kernel.Attach(ctx, g.running.File, o)
	}
	o.Discard = g.use.Yes || g.running.Connections == 0
	return kernel.Dial(ctx, g.running.Server, g.running.ID, o)
}

func (g *guest) RunScript(ctx context.Context, dir string, limit time.Duration) (notebook.Execution, error) {
	return g.beside.RunScript(ctx, dir, limit)
}

func (g *guest) Open(ctx context.Context, p agent.Purpose, dir string, see Observer) (agent.Session, error) {
	if p == agent.Work {
		return g.visit(ctx, dir, see)
	}
	return g.beside.Open(ctx, p, dir, see)
}

// A visit is the run's own session in a kernel of the user's.
type visit struct {
	session
	folder record.Folder
	keep   []string
}

// clearNames removes names that would mislead the set-up cell. They are restored at the end of the
// visit.
const clearNames = `for _name in ("base_dir", "__file__"):
    globals().pop(_name, None)`

// visit opens the run's own session.
func (g *guest) visit(ctx context.Context, dir string, see Observer) (agent.Session, error) {
	options, back := g.host.options(g.settings, kernel.Spec{}, agent.Work, dir)
	k, err := g.attach(ctx, options)
	if err != nil {
		return nil, err
	}
	s := rewind.New(k, back)
	if _, err := s.Execute(ctx, clearNames); err != nil {
		_ = s.Close() // the first error says more
		return nil, err
	}
	return visit{session{s, see}, record.Folder(dir), g.use.Keep}, nil
}

// Rollback restores the user's names first, then clears the misleading ones again.
func (v visit) Rollback(ctx context.Context, cells []string) (notebook.Restoration, error) {
	back, err := v.Session.Rollback(ctx, slices.Concat([]string{clearNames}, cells))
	if all := back.Executions; len(all) > 0 && all[0].Status == notebook.OK {
		back.Executions, back.Kept = all[1:], max(0, back.Kept-1)
	}
	return back, err
}

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
func (v visit) Leave(ctx context.Context, known []record.Variable) (warnings []string, err error) {
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
func (v visit) put(ctx context.Context, ask string, request map[string]any, limit time.Duration, into any) error {
	mark := rand.Text()
	request["ask"], request["mark"] = ask, mark
	request["folder"], request["reserved"] = v.folder.Variables(), record.SetUpNames
	asked, _ := json.Marshal(request) // plain data
	script, _ := json.Marshal(variablesCode)
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
	said := brief.Problem(e)
	if e.Status == notebook.OK {
		said = brief.Clip(brief.OneLine(e.PlainText()), 300)
	}
	return fmt.Errorf("the kernel does not respond: %s", said)
}

// Within reports whether this process was started by a cell of the user's kernel, directly or by
// way of a shell. Such a cell would wait for a run that waits for the kernel. Without /proc it
// relies on the variable by which Jupyter tells a kernel its notebook.
func (h Host) Within(k kernel.Running) bool {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		session := h.Getenv("JPY_SESSION_NAME")
		return session != "" && filepath.Base(session) == filepath.Base(k.Notebook)
	}
	for pid := os.Getppid(); pid > 1 && k.File != ""; {
		argv, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if bytes.Contains(argv, []byte(filepath.Base(k.File))) {
			return true
		}
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		_, parent, _ := strings.Cut(string(status), "\nPPid:")
		if _, err := fmt.Sscan(parent, &pid); err != nil {
			return false
		}
	}
	return false
}
