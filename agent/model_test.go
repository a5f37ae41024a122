package agent_test

import (
	"context"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"
	"sync"

	"dsstar/agent/llm"
	"dsstar/agent/record"
)

// A script holds the model's replies by role and subject ("coder round 1"), or
// by role alone. Those of the solver and of the judge may be given in parts: "step" and
// "cell"; "verdict", "wrong" (a step's number) and "last" (the last cell). Replies of
// roles that write code are put into a code block, unless they begin with "raw:"; a
// reply that begins with "cut:" ends at the limit on its length.
type script map[string]string

const (
	yes = "Verdict: sufficient\nReason: all is there"
	no  = "Verdict: unfinished\nReason: the total is missing"
	bad = "Verdict: insufficient\nReason: the total is wrong"
)

// simple is a run that needs one round, and whose second derivation agrees; the cases of a
// test add to it.
var simple = script{
	"analyzer": `print("a table")`, "step": "Do the next thing.", "cell": "x = 1\nprint(x)",
	"verdict": yes, "last": "print(x)", "second": "agreed()",
}

// three is a run of three steps: its cells bind x, y and z.
var three = simple.with(script{
	"step round 1": "One.", "step round 2": "Two.", "step round 3": "Three.", "verdict": no,
	"verdict round 3": yes,
	"cell round 1":    "x = 1\nprint(x)", "cell round 2": "y = x\ny += \"2\"\nprint(y)",
	"cell round 3": "z = y\nz += \"3\"\nprint(z)",
	"last":         "print(z)",
})

// more is a model for runs that are resumed: it says yes to all.
var more = script{
	"verdict": yes, "second": "agreed()", "step": "More.",
	"cell": "y = x\ny += \"b\"\nprint(y)", "last": "print(y)",
}

// published is simple in the paper's roles.
var published = script{
	"analyzer": `print("a table")`, "planner": "Do the next thing.", "coder": "x = 1\nprint(x)",
	"verifier": "Yes", "router": "Add Step", "finalizer": "x = 1\nprint(x)",
}

// asPublished has a run follow the paper.
func asPublished(s *stage) { s.config.Method = record.Method{Script: true} }

func (s script) with(more script) script {
	s = maps.Clone(s)
	maps.Copy(s, more)
	return s
}

// reply returns the reply of a role to a subject, as the script has it.
func (s script) reply(role, subject string) (text string, ok bool) {
	if text, ok = s[role+" "+subject]; !ok {
		text, ok = s[role]
	}
	return text, ok
}

// python puts code into a code block.
func python(code string) string {
	if raw, is := strings.CutPrefix(code, "raw:"); is {
		return raw
	}
	return "```python\n" + code + "\n```"
}

// whole is the whole reply of a role, of its parts if it has several.
func (s script) whole(role, subject string) (text string, ok bool) {
	text, ok = s.reply(role, subject)
	part := map[string]string{"coder": "cell", "finalizer": "last"}[role]
	switch {
	case ok && slices.Contains([]string{"analyzer", "coder", "debugger", "finalizer", "second"}, role):
		return python(text), true
	case ok:
		return text, true
	case part != "":
		text, ok = s.reply(part, subject)
		return python(text), ok
	case role == "solver":
		step, stepped := s.reply("step", subject)
		cell, ok := s.reply("cell", subject)
		return "Step: " + step + "\n\n" + python(cell), stepped && ok
	case role == "judge":
		text, ok = s.reply("verdict", subject)
		wrong, of := s.reply("wrong", subject)
		if back := strings.Contains(text, "Verdict: insufficient"); back && of {
			text += "\nWrong step: " + wrong
		} else if !back && !strings.Contains(text, "Verdict: unfinished") {
			last, has := s.reply("last", subject)
			text, ok = text+"\n\n"+python(last), ok && has
		}
	}
	return text, ok
}

// A model answers, and remembers what it was asked.
type model struct {
	says    func(llm.Request) (text string, ok bool)
	before  func(ctx context.Context, key string) error // may fail or wait
	answer  func() string                               // of the accepted cells
	tooLong func(llm.Request) bool                      // does not fit into the context
	again   bool                                        // it may be asked the same again
	secrets []string                                    // in lower case; no request may have one
	t       reporter

	mu       sync.Mutex
	asked    []string // keys, in order
	requests map[string]llm.Request
	refused  []string // keys of requests that were too long
}

func (m *model) Ask(ctx context.Context, r llm.Request) (llm.Reply, error) {
	key := r.Role + " " + r.Subject
	err := ctx.Err()
	if err == nil {
		err = m.hears(key, r)
	}
	if err == nil && m.before != nil {
		err = m.before(ctx, key)
	}
	if err != nil {
		return llm.Reply{}, err
	}
	text, ok := m.says(r)
	if !ok {
		return llm.Reply{}, fmt.Errorf("no reply to %q", key)
	}
	if strings.Contains(text, "agreed()") { // whose value is another one with another answer
		mark := fmt.Sprintf("# %x\n", crc32.ChecksumIEEE([]byte(m.answer())))
		text = strings.Replace(text, "agreed()", mark+"agreed()", 1)
	}
	reply := llm.Reply{Model: "m1", Finish: "stop", Usage: llm.Usage{InputTokens: 10, OutputTokens: 2}}
	if reply.Text, ok = strings.CutPrefix(text, "cut:"); ok {
		reply.Finish = "length"
	}
	return reply, nil
}

// hears remembers a request, or refuses it.
func (m *model) hears(key string, r llm.Request) error {
	m.hides(key, r)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tooLong != nil && m.tooLong(r) {
		m.refused = append(m.refused, key)
		return &llm.StatusError{Status: 413, Message: "too long"}
	}
	if before, again := m.requests[key]; again && !m.again && lastOf(before) == lastOf(r) {
		return fmt.Errorf("%s was asked twice", key)
	}
	m.asked, m.requests[key] = append(m.asked, key), r
	return nil
}

// hides fails the test if a request has a secret.
func (m *model) hides(key string, r llm.Request) {
	all := textOf(r)
	for _, secret := range m.secrets {
		if at := strings.Index(strings.ToLower(all), secret); at >= 0 {
			m.t.Errorf("%s: %q is in %q", key, secret, all[max(0, at-100):])
		}
	}
}

// textOf returns the whole text of a request.
func textOf(r llm.Request) (all string) {
	for _, message := range r.Messages {
		all += "\n\n" + message.Text
	}
	return all
}

func lastOf(r llm.Request) string { return r.Messages[len(r.Messages)-1].Text }

// prompt is the last message of a request, or of a role's last one; the test fails if it was not sent.
func (m *model) prompt(t reporter, key string) string {
	t.Helper()
	r, ok := m.requests[key]
	for _, asked := range m.asked {
		if strings.HasPrefix(asked, key+" ") {
			r, ok = m.requests[asked], true
		}
	}
	if !ok {
		t.Fatalf("%q was not asked, but %q", key, m.asked)
	}
	return lastOf(r)
}
