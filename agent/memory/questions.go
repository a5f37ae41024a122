package memory

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dsstar/agent/brief"
	"dsstar/agent/memory/lesson"
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

// newest returns the newest record of each question. A merge may leave an older one behind a newer
// one.
func newest(all []Question) (kept []Question) {
	at := map[string]int{} // in kept
	for _, q := range all {
		i, known := at[q.key()]
		switch {
		case !known:
			at[q.key()], kept = len(kept), append(kept, q)
		case !q.Asked.Before(kept[i].Asked):
			kept[i] = q
		}
	}
	return kept
}

// key is the same for records of the same question.
func (q Question) key() string { return plain(q.Question) + "\n" + brief.OneLine(q.Guidelines) }

// plain is the same for a question in other letter case, with other spacing and another end.
func plain(question string) string {
	return strings.TrimRight(strings.ToLower(brief.OneLine(question)), " .?!")
}

// NotebookOf returns the path of a question's notebook, absolute if that of the folder is.
func (m *Memory) NotebookOf(q Question) string {
	if filepath.IsAbs(q.Notebook) {
		return q.Notebook
	}
	return filepath.Join(filepath.Dir(m.Dir), q.Notebook)
}

// Asked returns the record of a question that was verified on the same data and asked for in the
// same form. data, which reads all files, is called only for such a question.
func (m *Memory) Asked(question, guidelines string, data func() map[string]string) (Question, bool) {
	key := Question{Question: question, Guidelines: guidelines}.key()
	for _, q := range m.Questions {
		if q.Verified && len(q.Data) > 0 && q.key() == key && maps.Equal(q.Data, data()) {
			return q, true
		}
	}
	return Question{}, false
}

// Near returns the records of up to n questions that share the most words with another one, if
// those are more than a share of the words of both; the nearest first.
func (m *Memory) Near(question string, least float64, n int) []Question {
	asked := lesson.Words(plain(question))
	share := func(q Question) float64 {
		own, shared := lesson.Words(plain(q.Question)), 0
		for w := range own {
			if asked[w] {
				shared++
			}
		}
		return float64(shared) / float64(len(own)+len(asked)-shared)
	}
	far := func(q Question) bool { return !(share(q) > least) } // nor has it words
	near := slices.DeleteFunc(slices.Clone(m.Questions), far)
	slices.SortStableFunc(near, func(a, b Question) int { return cmp.Compare(share(b), share(a)) })
	return near[:min(len(near), n)]
}
