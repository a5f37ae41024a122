package agent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/agent/describe"
	"dsstar/agent/mask"
	"dsstar/agent/mask/masktest"
	"dsstar/agent/record"
)

// secretFiles writes all credentials in all forms into files of a folder.
func secretFiles(t *testing.T) (dir string, names []string) {
	t.Helper()
	dir = t.TempDir()
	for form, write := range masktest.Forms {
		n := 0
		for secret, line := range masktest.Credentials {
			n++
			name := fmt.Sprintf("%s%d%s", form, n, map[string]string{"plain": ".env", "JSON": ".json",
				"notebook": ".ipynb", "twice": ".md", "CSV": ".csv"}[form])
			if err := os.WriteFile(filepath.Join(dir, name), []byte(write(fmt.Sprintf(line, secret))), 0o600); err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
	}
	return dir, names
}

// textProfile is what the program prints of a text.
func textProfile(text string) string {
	return string(must(json.Marshal(map[string]string{"format": "text", "headline": "text", "text": text})))
}

// holdsNone fails the test if a request has a part of a text.
func (p *played) holdsNone(t *testing.T, part string) {
	t.Helper()
	for key, r := range p.model.requests {
		all := fmt.Sprint(r.Inputs)
		for _, m := range r.Messages {
			all += m.Text
		}
		if at := strings.Index(all, part); at >= 0 {
			t.Errorf("%s: %q", key, all[max(0, at-100):at+len(part)])
			return
		}
	}
}

// TestCredentialsStay: no request of a run has a credential of a file, with its context or printed
// alone, and each file and line is named once.
func TestCredentialsStay(t *testing.T) {
	once(t)
	dir, names := secretFiles(t)
	for _, method := range []record.Method{{}, {Script: true}} {
		var shown, alone strings.Builder
		for _, name := range names {
			content, _ := os.ReadFile(filepath.Join(dir, name))
			shown.Write(content)
		}
		for secret := range masktest.Credentials {
			fmt.Fprintf(&alone, "print(%q)\n", "it is "+secret)
		}
		replies := simple.with(script{"cell": alone.String() + "x = 1", "analyzer": fmt.Sprintf("print(%q)", shown.String())})
		if method.Script {
			replies = published.with(script{"coder": replies["cell"] + "\nprint(x)", "analyzer": replies["analyzer"]})
		}
		p := play(t, replies, func(s *stage) {
			s.config.Method = method
			s.quick, s.task.Data, s.task.Files = true, dir, filesOf(names...)
			for i := range s.task.Files {
				info, _ := os.Stat(filepath.Join(dir, names[i]))
				s.task.Files[i].Size = info.Size()
			}
			s.world.profiles = map[string]string{}
			for _, name := range names {
				content, _ := os.ReadFile(filepath.Join(dir, name))
				s.world.profiles["data/"+name] = textProfile(string(content))
			}
		})
		for secret := range masktest.Credentials {
			for part := range strings.FieldsSeq(secret) {
				p.holdsNone(t, part)
			}
		}
		told := strings.Join(p.Warnings, "\n")
		for _, name := range names {
			if strings.Count(told, name+", line ") < 1 {
				t.Errorf("no warning names %s:\n%s", name, told)
			}
		}
		if p.Answer() == "" {
			t.Error(p.err)
		}
	}
}

// TestMaskedColumns: no request has a value of a masked column, and a reply's stand-ins are the values
// for cells, answer and sentence. Nothing of the list of values is kept.
func TestMaskedColumns(t *testing.T) {
	columns := map[string][]string{"name": {"Ann Smith", "Bob O'Brien", "Zoë Quux"},
		"id": {"1234567", "2345678.0"}, "born": {"1980-01-05"}}
	known := mask.New([]byte("k"))
	for _, all := range columns {
		known.Add(all)
	}
	ann := known.Mask
	cell := fmt.Sprintf("y = %q\nprint(y)\nx = %q\nprint(x)\nfail_on(y, \"nothing\")", ann("1234567 ANN SMITH 1980-01-05T00"),
		ann("Ann Smith"))
	for _, c := range []struct {
		method  record.Method
		replies script
	}{
		{record.Method{}, simple.with(script{"cell": cell, "second": "z = " + fmt.Sprintf("%q", ann("Bob")) +
			"\nprint(z)", "arbiter": "raw:Ruling: first\nReason: " + ann("Ann Smith")})},
		{record.Method{Script: true}, published.with(script{"coder": cell, "finalizer": cell, "analyzer": `print("1980-01-05 zoë quux")`})},
	} {
		p := play(t, c.replies, func(s *stage) {
			s.config.Method, s.config.Mask, s.config.Columns = c.method, mask.New([]byte("k")), []string{"name", "id", "born"}
			s.task.Data, s.task.Files = t.TempDir(), filesOf("Ann Smith.csv")
			s.task.Files[0].Size = 9
			s.task.Question = "Who is Ann Smith, 1,234,567?"
			s.world.columns = columns
			s.world.profiles = map[string]string{"data/Ann Smith.csv": textProfile(
				"Ann Smith,1234567,1980-01-05\nBob O'Brien,2345678,\nzoë quux")}
		})
		for _, gone := range []string{"Ann Smith", "ANN SMITH", "Smith", "Brien", "1234567", "1,234,567", "2345678",
			"1980-01-05", "zoë"} {
			p.holdsNone(t, gone)
		}
		if !strings.Contains(p.Answer(), "Ann Smith") || p.Task.Question != "Who is Ann Smith, 1,234,567?" ||
			!strings.Contains(strings.Join(p.Cells(), "\n"), `"1234567 ANN SMITH 1980-01-05T00"`) {
			t.Errorf("%v: %q\n%s", p.err, p.Answer(), p.Cells())
		}
		if data := string(must(record.Draw(p.Trajectory).Encode())); strings.Contains(data, "Zoë Quux") {
			t.Error("the notebook has a value that no cell has printed")
		}
	}
}

// TestNothingToMask: a run does not begin if the values to mask are not known.
func TestNothingToMask(t *testing.T) {
	p := play(t, simple, func(s *stage) {
		s.config.Columns, s.task.Data = []string{"nam"}, t.TempDir()
		s.task.Files[0].Size = 9
	})
	if _, ok := errors.AsType[*describe.MaskError](p.err); !ok || len(p.model.requests) > 0 {
		t.Errorf("%v, %d requests", p.err, len(p.model.requests))
	}
}
