package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
				s.world.profiles["data/"+name] = masktest.JSON(map[string]any{"format": "text", "headline": "text",
					"document": string(content)})
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
