package agent

import (
	"errors"
	"slices"

	"dsstar/agent/ask"
)

// A Role is what asks a model for one kind of reply. Its name is that of its calls in the trace and of
// its model in the settings.
type Role struct {
	Name  string
	Label string // where the terminal shows its reply as it comes; "": the name
	Paper bool   // of the published method
}

// Roles are the roles of both methods. A new one is a row, a template of package prompts with a form of
// [ask], a call, and an entry in the settings.
var Roles = []Role{
	{Name: "solver", Label: "step"},
	{Name: "judge"},
	{Name: "debugger", Label: "repair"},
	{Name: "second"},
	{Name: "arbiter", Label: "ruling"},
	{Name: "branches", Label: "readings"},
	{Name: "learner", Label: "memory"},
	{Name: "summarizer"},
	{Name: "coder", Label: "cell"},
	{Name: "finalizer", Label: "answer"},
	{Name: "analyzer", Label: "file", Paper: true},
	{Name: "planner", Label: "plan", Paper: true},
	{Name: "coder", Label: "cell", Paper: true},
	{Name: "debugger", Label: "repair", Paper: true},
	{Name: "verifier", Label: "judge", Paper: true},
	{Name: "router", Paper: true},
	{Name: "finalizer", Label: "answer", Paper: true},
}

// LabelOf returns the label of a role.
func LabelOf(name string) string {
	i := slices.IndexFunc(Roles, func(r Role) bool { return r.Name == name })
	if i < 0 || Roles[i].Label == "" {
		return name
	}
	return Roles[i].Label
}

// unread warns that a reply could not be read, where the run goes on without it. It returns whether err
// says that, and else err.
func (r *run) unread(err error) (is bool, _ error) {
	unread, is := errors.AsType[*ask.Error](err)
	if is {
		err = r.Warn(unread.Error())
	}
	return is, err
}
