package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsstar/agent/describe"
	"dsstar/agent/llm"
	"dsstar/agent/mask"
	"dsstar/agent/mask/masktest"
	"dsstar/agent/page"
	"dsstar/agent/record"
)

// secretFiles writes each credential into a file of a folder.
func secretFiles(t *testing.T) (dir string, names []string) {
	t.Helper()
	dir = t.TempDir()
	for secret, line := range masktest.Credentials {
		name := fmt.Sprintf("f%d.env", len(names))
		must(0, os.WriteFile(filepath.Join(dir, name), []byte(fmt.Sprintf(line, secret)), 0o600))
		names = append(names, name)
	}
	return dir, names
}

// textProfile is what the program prints of a text.
func textProfile(text string) string {
	return string(must(json.Marshal(map[string]string{"format": "text", "headline": "text", "text": text})))
}

// An embedder says that all texts are equally near.
type embedder struct{ *model }

func (m embedder) Ask(_ context.Context, r llm.Request) (llm.Reply, error) {
	m.hides("the retriever", r)
	return llm.Reply{Text: string(must(json.Marshal(make([]float64, len(r.Texts))))), Calls: 1}, nil
}

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

// TestCredentialsStay: no request of a run has a credential of a file, with its context or printed
// alone, and each file and line is named once.
func TestCredentialsStay(t *testing.T) {
	once(t)
	dir, names := secretFiles(t)
	for n, method := range []record.Method{{}, {Script: true}, {}} {
		replies := simple.with(script{"cell": printing(false) + "x = 1"})
		if method.Script {
			replies = published.with(script{"coder": printing(false) + "x = 1\nprint(x)", "analyzer": printing(true)})
		}
		p := play(t, replies, guarded, func(s *stage) {
			if s.config.Method = method; n == 2 {
				s.config.Embedder, s.config.TopK = embedder{s.model}, 10
			}
			s.quick, s.task.Data, s.task.Files = true, dir, filesOf(names...)
			s.world.profiles = map[string]string{}
			for i, name := range names {
				content := must(os.ReadFile(filepath.Join(dir, name)))
				s.task.Files[i].Size = int64(len(content))
				s.world.profiles["data/"+name] = textProfile(string(content))
			}
		})
		if (p.ByRole["retriever"].Calls > 0) != (n == 2) || p.Answer() == "" {
			t.Errorf("%d: by role %+v, %v", n, p.ByRole, p.err)
		}
		told := strings.Join(p.Warnings, "\n")
		for _, name := range names {
			if strings.Count(told, name+", line ") != 1 {
				t.Errorf("no warning names %s:\n%s", name, told)
			}
		}
	}
}

// TestCredentialsElsewhere: what only a variable of the user's or an output has is in no request either,
// wherever a run with a follow-up is killed.
func TestCredentialsElsewhere(t *testing.T) {
	once(t)
	var variables []record.Variable
	for secret, line := range masktest.Credentials {
		variables = append(variables, record.Variable{Name: fmt.Sprintf("v%d", len(variables)), Type: "str",
			Text: fmt.Sprintf(line, secret)})
	}
	for _, c := range []struct {
		cell string
		has  []record.Variable
	}{{printing(false), variables}, {printing(true), nil}} { // a variable that is not shown; an output
		change := func(s *stage) {
			guarded(s)
			s.quick, s.config.ContextChars, s.task.Guidelines = true, 200, ""
			hosting(s, c.has)
		}
		replies := simple.with(script{"cell": c.cell + "x = 1\nprint(x)", "last": printing(false),
			"cell round 2": "b = x\nprint(b)"})
		got := goldenOf(t, []turn{{replies: replies, change: change}, {does: next, replies: replies, change: change},
			{replies: replies, change: guarded}}, spared)
		contains(t, got, "answer 2: ", "tr0ub4dor")
	}
}

// TestNothingToMask: a run does not begin if the values to mask are not known.
func TestNothingToMask(t *testing.T) {
	for _, change := range []func(*stage){
		func(*stage) {},
		func(s *stage) {
			s.world.columns = private
			hosting(s, []record.Variable{{Name: "df", Text: "Ann Smith"}})
		},
	} {
		p := play(t, simple, func(s *stage) { s.config.Columns = []string{"name"} }, change)
		if _, ok := errors.AsType[*describe.MaskError](p.err); !ok || len(p.model.requests) > 0 {
			t.Errorf("%v, %d requests", p.err, len(p.model.requests))
		}
	}
}

// private are the values of three columns of a run of [masking].
var private = map[string][]string{"name": {" Ann Smith ", "Bob O'Brien", "Zoë Quux"},
	"id": {"1234567", "2345678.0"}, "born": {"1980-01-05"}}

// masking has columns masked with one key, in each life of a run, and no request with a value as it
// stands, trimmed or in another case.
func masking(s *stage) {
	s.config.Mask, s.world.columns = mask.New([]byte("k")), private
	s.config.Embedder, s.config.TopK, s.task.Files = embedder{s.model}, 1, filesOf("Ann Smith.csv", "b.csv")
	rows := textProfile("Ann Smith,1234567,1980-01-05\nzoë quux")
	s.world.profiles = map[string]string{"data/Ann Smith.csv": rows, "data/b.csv": rows}
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
	once(t)
	replies := simple.with(script{
		"solver round 1": strings.Replace(reads(isOpen), "x = 1", says("x = %q", "ANN SMITH 1234567"), 1),
		"branches":       branches(says("z = %q\nz", "Ann Smith")), "second": says("w = %q\nprint(w)\nagreed()", "zoë quux")})
	ann := says("x = %q\nprint(x)", "Ann Smith")
	paper := published.with(script{"coder": ann, "finalizer": ann, "analyzer": `print("Ann Smith")`})
	follow := script{"step": "On.", "cell": says("b = %q\nprint(b)", "Ann Smith"), "last": "print(b)",
		"verdict": yes + "\nTakes: 0", "second": "agreed()"}
	both := func(change func(*stage)) func(*stage) { return func(s *stage) { masking(s); change(s) } }
	first := turn{replies: replies, change: masking}
	for name, c := range map[string]struct {
		turns  []turn
		answer string // of the last turn
	}{
		"readings": {[]turn{first}, "ANN SMITH 1234567"},
		"a choice": {[]turn{{replies: replies, change: both(choosing(1))}}, "Ann Smith"},
		"as published": {[]turn{{replies: paper, change: both(func(s *stage) { s.config.Method.Script = true })}},
			"Ann Smith"},
		"a later choice": {[]turn{first, {does: chooses(0, 0, 1), replies: replies, change: masking}}, "Ann Smith"},
		"a follow-up after an edit": {[]turn{first,
			{does: edit(source("step-1", "ANN SMITH", "Zoë Quux")), replies: replies, change: masking},
			{does: question("And Ann Smith?", ""), replies: follow, change: masking}}, "Ann Smith"},
	} {
		got := goldenOf(t, c.turns, spared)
		answers := strings.Split(got, ": \""+c.answer+"\", ")
		if len(answers) < 2 || strings.Contains(answers[len(answers)-1], "answer ") || strings.Contains(got, "masked") {
			t.Errorf("%s: want %q in\n%s", name, c.answer, got)
		}
	}
	p := play(t, replies, masking).noError(t)
	lacks(t, string(must(page.Draw(p.Trajectory).Encode())), "Bob O'Brien")
}
