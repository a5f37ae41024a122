package agent

import (
	"errors"

	"dsstar/agent/ask"
)

// Roles are what asks a model for one kind of reply, each by the name of its calls in the trace and of
// its model in the settings, with what the terminal calls its reply. A new one is a row, a template of
// package prompts with a form of [ask], a call, and an entry in the settings.
var Roles = map[string]string{
	"solver":     "step",
	"judge":      "judge",
	"debugger":   "repair",
	"second":     "second",
	"arbiter":    "ruling",
	"branches":   "readings",
	"learner":    "memory",
	"summarizer": "summarizer",
	"coder":      "cell",
	"finalizer":  "answer",
	// of the published method alone
	"analyzer": "file",
	"planner":  "plan",
	"verifier": "judge",
	"router":   "router",
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
