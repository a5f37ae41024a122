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

	"dsstar/agent"
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

// sent is all that goes to the model with a request.
func sent(r llm.Request) string {
	all := ""
	for _, m := range r.Messages {
		all += m.Text
	}
	return all
}

// An embedder keeps what an embedding model is sent.
type embedder struct{ *model }

func (m embedder) Ask(_ context.Context, r llm.Request) (llm.Reply, error) {
	sent := r.Messages[0].Text + strings.Join(r.Texts, "\n")
	m.requests["the retriever"] = llm.Request{Messages: []llm.Message{{Text: sent}}}
	return llm.Reply{Text: string(must(json.Marshal(make([]float64, len(r.Texts))))), Calls: 1}, nil
}

// holdsNone fails the test if a request has a credential.
func (p *played) holdsNone(t *testing.T, when string) {
	t.Helper()
	for key, r := range p.model.requests {
		for secret := range masktest.Credentials {
			for part := range strings.FieldsSeq(secret) {
				if all := sent(r); strings.Contains(all, part) {
					at := strings.Index(all, part)
					t.Errorf("%s, %s: %q", when, key, all[max(0, at-100):at+len(part)])
				}
			}
		}
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
		p := play(t, replies, func(s *stage) {
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
		p.holdsNone(t, fmt.Sprint(n))
		if _, ranked := p.model.requests["the retriever"]; ranked != (n == 2) || p.Answer() == "" {
			t.Errorf("%d: ranked: %v, %v", n, ranked, p.err)
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
	for name, c := range map[string]struct {
		cell string
		has  []record.Variable
	}{
		"a variable that is not shown": {printing(false), variables}, "an output": {printing(true), nil},
	} {
		change := func(s *stage) {
			s.quick, s.config.ContextChars, s.task.Guidelines = true, 200, ""
			hosting(s, c.has)
		}
		replies := simple.with(script{"cell": c.cell + "x = 1\nprint(x)", "last": printing(false),
			"cell round 2": "b = x\nprint(b)"})
		r := &recorder{}
		whole := play(t, replies, r.record, change).noError(t)
		tr := readAgain(t, whole.Trajectory)
		must(0, tr.Ask("And now?", ""))
		lives := map[string]*played{"": whole,
			"elsewhere": goOn(t, replies, readAgain(t, tr), func(s *stage) { s.quick = true }).noError(t),
			"follow-up": goOn(t, replies, tr, r.record, change).noError(t)}
		for n, m := range r.all {
			if m.notebook != nil && n%4 == 0 && !spared(n) {
				lives[fmt.Sprint(n, " after ", m.what)] = goOn(t, replies, reread(t, m.notebook), change).noError(t)
			}
		}
		for life, p := range lives {
			if p.holdsNone(t, name+", "+life); p.Answer() != whole.Answer() || !strings.Contains(p.Answer(), "tr0ub4dor") {
				t.Errorf("%s, %s: answer %q", name, life, p.Answer())
			}
		}
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

// masking has columns masked with one key, in each life of a run.
func masking(s *stage) {
	s.config.Mask, s.world.columns = mask.New([]byte("k")), private
	s.config.Embedder, s.config.TopK, s.task.Files = embedder{s.model}, 1, filesOf("Ann Smith.csv", "b.csv")
	rows := textProfile("Ann Smith,1234567,1980-01-05\nzoë quux")
	s.world.profiles = map[string]string{"data/Ann Smith.csv": rows, "data/b.csv": rows}
}

// holdsNoPrivate fails the test if a request has a value as it stands, trimmed or in another case.
func (p *played) holdsNoPrivate(t *testing.T, when string) {
	t.Helper()
	values := append(slices.Concat(slices.Collect(maps.Values(private))...), "smith", "brien", "1,234,567")
	for key, r := range p.model.requests {
		all := strings.ToLower(sent(r))
		for _, v := range values {
			v = strings.TrimSuffix(strings.ToLower(strings.TrimSpace(v)), ".0")
			if strings.Contains(all, v) {
				t.Errorf("%s, %s: %q", when, key, v)
			}
		}
	}
}

// TestMaskedAfterKill: wherever a run with masked columns is killed, or goes on by a person's edit, choice
// or next question, no request has a value, and the answers are those of one that was not.
func TestMaskedAfterKill(t *testing.T) {
	once(t)
	known := mask.New([]byte("k"))
	for _, all := range private {
		known.Add(all)
	}
	says := func(code, value string) string { return fmt.Sprintf(code, known.Mask(value)) }
	solver := strings.Replace(reads(isOpen), "x = 1", says("x = %q", "ANN SMITH 1234567"), 1)
	replies := simple.with(script{"solver round 1": solver, "branches": branches(says("z = %q\nz", "Ann Smith")),
		"second": says("w = %q\nprint(w)\nagreed()", "zoë quux")})
	ann := says("x = %q\nprint(x)", "Ann Smith")
	paper := published.with(script{"coder": ann, "finalizer": ann, "analyzer": `print("Ann Smith")`})
	begin := func(s *stage) {
		s.task.Question, s.task.Guidelines, s.config.Columns = "Who is Ann Smith, 1,234,567?", "", []string{"name", "id", "born"}
	}
	chooses := func(s *stage) {
		s.config.ChooseReading = func(context.Context, record.Reading, string) (int, error) { return 1, nil }
	}
	for name, c := range map[string]struct {
		replies script
		change  func(*stage)
		answer  string
	}{
		"readings": {replies, func(*stage) {}, "ANN SMITH 1234567"}, "a choice": {replies, chooses, "Ann Smith"},
		"as published": {paper, func(s *stage) { s.config.Method.Script = true }, "Ann Smith"},
	} {
		r := &recorder{}
		whole := play(t, c.replies, r.record, masking, begin, c.change).noError(t)
		whole.holdsNoPrivate(t, name)
		if _, ranked := whole.model.requests["the retriever"]; !ranked || whole.Answer() != c.answer || strings.Contains(strings.Join(whole.Cells(), "\n"), "masked") {
			t.Fatalf("%s: answer %q, asked %q", name, whole.Answer(), whole.model.asked)
		}
		if data := string(must(page.Draw(whole.Trajectory).Encode())); strings.Contains(data, "Bob O'Brien") ||
			whole.Task.Question != "Who is Ann Smith, 1,234,567?" {
			t.Errorf("%q; or the notebook has a value that no cell has printed", whole.Task.Question)
		}
		for n, m := range r.all {
			if m.notebook != nil && !spared(n) {
				p := goOn(t, c.replies, reread(t, m.notebook), masking, c.change, func(s *stage) {
					s.quick = true
				}).noError(t)
				p.holdsNoPrivate(t, name+" after "+m.what)
				if p.Answer() != whole.Answer() {
					t.Errorf("%s after %s: answer %q", name, m.what, p.Answer())
				}
			}
		}
		if name != "readings" {
			continue
		}
		changed := must(edited(t, whole.Trajectory, source("step-1", "ANN SMITH", "Zoë Quux")))
		p := goOn(t, c.replies, changed, masking).noError(t)
		p.holdsNoPrivate(t, "an edit")
		chosen := readAgain(t, whole.Trajectory)
		must(0, agent.Choose(chosen, 0, 0, 1))
		later := goOn(t, c.replies, chosen, masking).noError(t)
		if later.holdsNoPrivate(t, "a later choice"); later.Answer() != "Ann Smith" || len(later.model.asked) == 0 {
			t.Errorf("a later choice: answer %q, asked %q", later.Answer(), later.model.asked)
		}
		tr := readAgain(t, p.Trajectory)
		if err := tr.Ask("And Ann Smith?", ""); err != nil || len(tr.Task.Mask) != 3 {
			t.Fatal(err, tr.Task.Mask)
		}
		p = goOn(t, script{"step": "On.", "cell": says("b = %q\nprint(b)", "Ann Smith"), "last": "print(b)",
			"verdict": yes + "\nTakes: 0", "second": "agreed()"}, tr, masking).noError(t)
		p.holdsNoPrivate(t, "a follow-up")
		if p.Answer() != "Ann Smith" || len(p.model.requests) < 3 {
			t.Errorf("answer %q, asked %q", p.Answer(), p.model.asked)
		}
	}
}
