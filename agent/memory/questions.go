package memory

import (
	"cmp"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A Question was answered by a verified run.
type Question struct {
	Question   string    `json:"question"`
	Guidelines string    `json:"guidelines,omitempty"` // the form of the answer
	Answer     string    `json:"answer"`
	Verified   bool      `json:"verified"`
	Notebook   string    `json:"notebook"`           // relative to the folder that has this one
	Readings   []string  `json:"readings,omitempty"` // that were chosen
	Asked      time.Time `json:"asked"`
	// Data are digests of the files, by name.
	Data map[string]string `json:"data"`
}

// readQuestions reads a line each.
func (m *Memory) readQuestions(text string) {
	var all []Question
	n := 0
	for line := range strings.Lines(text) {
		n++
		if strings.TrimSpace(line) == "" {
			continue
		}
		var q Question
		if err := json.Unmarshal([]byte(line), &q); err != nil || q.Question == "" {
			m.problem("%s, line %d is no question and is left out", questionsFile, n)
			continue
		}
		all = append(all, q)
	}
	m.takeQuestions(all)
}

// takeQuestions adds questions in place of earlier records of the same. A merge may leave an older one
// behind a newer one.
func (m *Memory) takeQuestions(all []Question) {
	known := m.byQuestion()
	for _, q := range all {
		i, ok := known[q.key()]
		switch {
		case !ok:
			known[q.key()] = len(m.Questions)
			m.Questions = append(m.Questions, q)
		case !q.Asked.Before(m.Questions[i].Asked):
			m.Questions[i] = q
		}
	}
}

// byQuestion returns the indexes of the questions by their keys.
func (m *Memory) byQuestion() map[string]int {
	known := make(map[string]int, len(m.Questions))
	for i, q := range m.Questions {
		known[q.key()] = i
	}
	return known
}

// key is the same for records of the same question.
func (q Question) key() string { return plain(q.Question) + "\n" + oneLine(q.Guidelines) }

// NotebookOf returns the path of a question's notebook, absolute if that of the folder is.
func (m *Memory) NotebookOf(q Question) string {
	if filepath.IsAbs(q.Notebook) {
		return q.Notebook
	}
	return filepath.Join(filepath.Dir(m.Dir), q.Notebook)
}

// Asked returns the record of a question that was verified on the same data and asked for in the
// same form. Letter case, spacing and the end of the sentence make no difference. data, which reads
// all files, is called only for such a question.
func (m *Memory) Asked(question, guidelines string, data func() map[string]string) (Question, bool) {
	for _, q := range m.Questions {
		if q.Verified && len(q.Data) > 0 && q.same(question, guidelines) &&
			maps.Equal(q.Data, data()) {
			return q, true
		}
	}
	return Question{}, false
}

// Near returns the records of up to n questions that share the most words with another one, if those
// are more than a share of the words of both; the nearest first.
func (m *Memory) Near(question string, least float64, n int) []Question {
	type near struct {
		q     Question
		share float64
	}
	var all []near
	asked := wordsOf(question)
	for _, q := range m.Questions {
		words, shared := wordsOf(q.Question), 0
		for w := range words {
			if asked[w] {
				shared++
			}
		}
		if share := float64(shared) / float64(len(words)+len(asked)-shared); share > least {
			all = append(all, near{q, share})
		}
	}
	slices.SortStableFunc(all, func(a, b near) int { return cmp.Compare(b.share, a.share) })
	var found []Question
	for _, one := range all[:min(len(all), n)] {
		found = append(found, one.q)
	}
	return found
}

func wordsOf(text string) map[string]bool { return words(plain(text)) }

func (q Question) same(question, guidelines string) bool {
	return plain(q.Question) == plain(question) && oneLine(q.Guidelines) == oneLine(guidelines)
}

func plain(question string) string {
	return strings.TrimRight(strings.ToLower(oneLine(question)), " .?!")
}
