package memory

import (
	"cmp"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"dsstar/agent/brief"
	"dsstar/agent/memory/lesson"
)

// A Question was answered by a verified run.
type Question struct {
	Question   string    `json:"question"`
	Guidelines string    `json:"guidelines,omitempty"` // the form of the answer
	Answer     string    `json:"answer"`
	Notebook   string    `json:"notebook"`           // relative to the folder that has this one
	Readings   []string  `json:"readings,omitempty"` // that were chosen
	Asked      time.Time `json:"asked"`
}

// key is the same for records of the same question.
func (q Question) key() string { return plain(q.Question) + "\n" + brief.OneLine(q.Guidelines) }

// plain is the same for a question in other letter case, with other spacing and another end.
func plain(question string) string {
	return strings.TrimRight(strings.ToLower(brief.OneLine(question)), " .?!")
}

// NotebookOf returns the path of a question's notebook.
func (m *Memory) NotebookOf(q Question) string {
	return filepath.Join(filepath.Dir(m.Dir), q.Notebook)
}

// Near returns the records of up to n questions that share the most words with another one, if
// those are more than a share of the words of both; the nearest first.
func (m *Memory) Near(question string, least float64, n int) []Question {
	asked := lesson.Words(plain(question))
	share := func(q Question) float64 {
		all := lesson.Words(plain(q.Question))
		shared := len(all) + len(asked)
		maps.Copy(all, asked)
		return float64(shared-len(all)) / float64(max(1, len(all)))
	}
	far := func(q Question) bool { return share(q) <= least }
	near := slices.DeleteFunc(slices.Clone(m.Questions), far)
	slices.SortStableFunc(near, func(a, b Question) int { return cmp.Compare(share(b), share(a)) })
	return near[:min(len(near), n)]
}

// Corrections returns what people say of the data files: the text below a heading that is a file's
// name, up to the name of another file or a heading of the same or a higher level.
func (m *Memory) Corrections(names []string) map[string]string {
	if m == nil {
		return nil
	}
	all := map[string]string{}
	for _, said := range m.said {
		name, level, from := "", 0, 0
		end := func(at int) {
			all[name] = strings.TrimSpace(all[name] + said[from:at]) // which begins with a line break
		}
		top := goldmark.DefaultParser().Parse(text.NewReader([]byte(said)))
		for n := top.FirstChild(); n != nil; n = n.NextSibling() {
			heading, is := n.(*ast.Heading)
			if !is || heading.Lines().Len() == 0 {
				continue
			}
			line := heading.Lines().At(0)
			title := strings.Trim(said[line.Start:line.Stop], "` ")
			named := slices.Contains(names, title)
			if !named && heading.Level > level {
				continue
			}
			end(strings.LastIndexByte(said[:line.Start], '\n') + 1)
			if name, level, from = "", 0, line.Stop; named {
				name, level = title, heading.Level
			}
		}
		end(len(said))
	}
	delete(all, "") // of no file
	return all
}

const factsHead = `# Facts about these data

One item for each, with its source. Edit them freely: they are shown to the model as evidence.

`

// AddQuestion adds the record of a question, whose notebook has an absolute path.
func (m *Memory) AddQuestion(q Question) {
	q.Notebook, _ = filepath.Rel(filepath.Dir(m.Dir), q.Notebook) // both are absolute
	b, _ := json.Marshal(q)                                       // plain data
	m.texts[questionsFile] = ended(m.texts[questionsFile]) + string(b) + "\n"
	m.parse()
}

// Learn adds what an answer has taught and nobody knew, and returns the names of functions that are left out
// because there are others of their names, which the answer was not shown: earlier questions may
// use them.
func (m *Memory) Learn(facts []lesson.Fact, functions []lesson.Tool) (taken []string) {
	for _, f := range facts {
		f.Text, f.Source = brief.OneLine(f.Text), brief.OneLine(f.Source)
		known := func(o lesson.Fact) bool { return o.Text == f.Text }
		if f.Text != "" && !slices.ContainsFunc(m.Facts, known) {
			m.Facts = append(m.Facts, f)
			m.texts[factsFile] = ended(cmp.Or(m.texts[factsFile], factsHead)) + "- " + f.String() + "\n"
		}
	}
	for _, t := range functions {
		was := m.texts[fileOf(t.Name)]
		if was == "" {
			m.texts[fileOf(t.Name)] = t.String()
		} else if !strings.Contains(was, t.Code) {
			taken = append(taken, t.Name)
		}
	}
	m.parse()
	return taken
}
