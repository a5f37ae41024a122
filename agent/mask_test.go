package agent_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"dsstar/agent/describe/profile"
	"dsstar/agent/mask"
	"dsstar/agent/mask/masktest"
	"dsstar/agent/page"
	"dsstar/agent/record"
)

// guarded has no request with a credential.
func guarded(s *stage) {
	for secret := range masktest.Credentials {
		s.model.secrets = append(s.model.secrets, strings.Fields(strings.ToLower(secret))...)
	}
}

// printing returns cells that print each credential, in the line that it stands in or alone.
func printing(dressed bool) string {
	var b strings.Builder
	for secret, line := range masktest.Credentials {
		if !dressed {
			line = "it is %s"
		}
		fmt.Fprintf(&b, "print(%q)\n", fmt.Sprintf(line, secret))
	}
	return b.String()
}

// TestCredentialsStay: no request of a run has a credential of a file, of a variable of the user's or of
// an output, with its context or printed alone, wherever a run with a follow-up is killed; each file and
// line is named once.
func TestCredentialsStay(t *testing.T) {
	content, profiles, variables := map[string]string{}, map[string]profile.Profile{}, []record.Variable(nil)
	for secret, line := range masktest.Credentials {
		name, text := fmt.Sprintf("f%d.env", len(content)), fmt.Sprintf(line, secret)
		content[name], profiles[name] = text, profile.Profile{Format: "text", Headline: "text", Document: text}
		variables = append(variables, record.Variable{Name: fmt.Sprintf("v%d", len(content)), Type: "str", Text: text})
	}
	replies := simple.with(script{"cell": printing(false) + "x = 1"})
	paper := published.with(script{"coder": printing(false) + "x = 1\nprint(x)", "analyzer": printing(true)})
	for n, run := range []turns{of(replies), of(paper, asPublished)} {
		run[0].change = append(run[0].change, guarded, withData(t, content), quickly, profiled(profiles))
		p := run[0].play(t, nil)
		if p.Answer() == "" {
			t.Errorf("%d: by role %+v, %v", n, p.ByRole, p.err)
		}
		told := strings.Join(p.Warnings, "\n")
		for name := range content {
			if strings.Count(told, name+", line ") != 1 {
				t.Errorf("no warning names %s:\n%s", name, told)
			}
		}
	}
	for code, has := range map[string][]record.Variable{printing(false): variables, printing(true): nil} {
		change := func(s *stage) {
			s.quick, s.config.ContextChars, s.task.Guidelines = true, 200, ""
			hosting(s, has) // none are shown
		}
		replies := simple.with(script{"cell": code + "x = 1\nprint(x)", "last": printing(false),
			"cell round 2": "b = x\nprint(b)"})
		got := goldenOf(t, of(replies, guarded, change).on(next, replies, guarded, change).on(nil, replies, guarded), spared)
		contains(t, got, "answer 2: ", "tr0ub4dor")
	}
}

// private are the values of three columns of a run of [masking].
var private = map[string][]string{"name": {" Ann Smith ", "Bob O'Brien", "Zoë Quux"},
	"id": {"1234567", "2345678.0"}, "born": {"1980-01-05"}}

// masking has columns masked with one key, in each life of a run, and no request with a value as it
// stands, trimmed or in another case.
func masking(s *stage) {
	s.config.Mask, s.world.columns = mask.New([]byte("k")), private
	s.config.TopK, s.task.Files = 1, filesOf("Ann Smith.csv", "b.csv")
	rows := profile.Profile{Format: "text", Headline: "text", Document: "Ann Smith,1234567,1980-01-05\nzoë quux"}
	s.world.profiles = map[string]profile.Profile{"Ann Smith.csv": rows, "b.csv": rows}
	for _, v := range append(slices.Concat(slices.Collect(maps.Values(private))...), "smith", "brien", "1,234,567") {
		s.model.secrets = append(s.model.secrets, strings.TrimSuffix(strings.ToLower(strings.TrimSpace(v)), ".0"))
	}
	if s.resume == nil {
		s.task.Question, s.task.Guidelines = "Who is Ann Smith, 1,234,567?", ""
		s.config.Columns = []string{"name", "id", "born"}
	}
}

// says is code with a value as the model knows it.
func says(code, value string) string {
	known := mask.New([]byte("k"))
	for _, all := range private {
		known.Add(all)
	}
	return fmt.Sprintf(code, known.Mask(value))
}

// TestMasked: wherever a run with masked columns is killed, or goes on by a person's edit, choice or
// next question, no request has a value, and neither has the notebook, unless a cell has printed it.
func TestMasked(t *testing.T) {
	replies := simple.with(script{
		"solver round 1": strings.Replace(reads(isOpen), "x = 1", says("x = %q", "ANN SMITH 1234567"), 1),
		"branches":       branches(says("z = %q\nz", "Ann Smith")), "second": says("w = %q\nprint(w)\nagreed()", "zoë quux")})
	ann := says("x = %q\nprint(x)", "Ann Smith")
	paper := published.with(script{"coder": ann, "finalizer": ann, "analyzer": `print("Ann Smith")`})
	follow := fresh.with(script{"cell": says("b = %q\nprint(b)", "Ann Smith")})
	for name, c := range map[string]struct {
		run    turns
		answer string // of the last turn
	}{
		"readings":       {of(replies, masking), "ANN SMITH 1234567"},
		"a choice":       {of(replies, masking, choosing(1)), "Ann Smith"},
		"as published":   {of(paper, masking, asPublished), "Ann Smith"},
		"a later choice": {of(replies, masking).on(chooses(0, 0, 1), replies, masking), "Ann Smith"},
		"a follow-up after an edit": {of(replies, masking).on(edit(source("step-1", "ANN SMITH", "Zoë Quux")), replies, masking).
			on(question("And Ann Smith?", ""), follow, masking), "Ann Smith"},
	} {
		got := goldenOf(t, c.run, spared)
		answers := strings.Split(got, ": \""+c.answer+"\", ")
		if len(answers) < 2 || strings.Contains(answers[len(answers)-1], "answer ") || strings.Contains(got, "masked") {
			t.Errorf("%s: want %q in\n%s", name, c.answer, got)
		}
	}
	p := play(t, replies, masking).noError(t)
	lacks(t, string(must(page.Draw(p.Trajectory).Encode())), "Bob O'Brien")
}
