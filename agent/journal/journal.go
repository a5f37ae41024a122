// Package journal keeps what a run has learned from outside: replies of a model, executions of
// cells, decisions of a person, proofs. Each result is kept under a digest of what it rests on.
// Whoever asks for it again gets what is there. If anything that it rests on has changed, it is not
// found. So nothing is ever reset, and a run is resumed by beginning it again.
package journal

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// An Entry is one result.
type Entry struct {
	Kind  string          `json:"kind"`
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
	text  string          // of the entry as JSON
}

func entry(kind, key string, value []byte) Entry {
	e := Entry{Kind: kind, Key: key, Value: value}
	text, _ := json.Marshal(e) // of plain data
	e.text = string(text)
	return e
}

// A Journal is the results of a run, in the order in which they were recorded. The zero value is an
// empty journal. Methods and functions may be called by several goroutines.
type Journal struct {
	// Saved, if set, is called after each result of a kind that is added. Its error is that of whoever
	// adds it.
	Saved func(kind string) error

	mu      sync.Mutex
	folder  *regexp.Regexp // of the run, in JSON; nil: none
	entries []Entry
	asked   atomic.Int64
}

// Asked returns how many results were not in the journal when they were asked for.
func (j *Journal) Asked() int { return int(j.asked.Load()) }

// key returns the digest of what a result of a kind rests on.
func (j *Journal) key(kind string, restsOn any) string { return j.Digest([]any{kind, restsOn}) }

// Digest returns the digest of plain data, to stand for them in what several results rest on.
func (j *Journal) Digest(data any) string {
	text, err := json.Marshal(data)
	if err != nil {
		panic(fmt.Sprintf("journal: digest of %T: %v", data, err)) // not plain data
	}
	return fmt.Sprintf("%x", sha256.Sum256(j.moved(text, "")))[:24]
}

// In says in which folder the run is: what a result rests on is the same in any.
func (j *Journal) In(folder string) {
	if j.folder = nil; folder != "" {
		j.folder = regexp.MustCompile(regexp.QuoteMeta(inJSON(folder)) + `([^\pL\pN_.-])`)
	}
}

// Move has the results name another folder as that of the run.
func (j *Journal) Move(folder string) {
	for i, e := range j.entries {
		j.entries[i] = entry(e.Kind, e.Key, j.moved(e.Value, folder))
	}
	j.In(folder)
}

// moved returns JSON with another folder in place of that of the run.
func (j *Journal) moved(text []byte, folder string) []byte {
	if j.folder == nil {
		return text
	}
	return j.folder.ReplaceAll(text, []byte(strings.ReplaceAll(inJSON(folder), "$", "$$")+"$1"))
}

// inJSON returns a path as it is within JSON.
func inJSON(path string) string {
	quoted, _ := json.Marshal(path) // a string
	return string(quoted[1 : len(quoted)-1])
}

// Once returns the result that is recorded, or else gets it from do and records it. An error of do
// is not recorded. The result has always been through JSON, so that a run sees what a resumed one
// will see.
func Once[T any](ctx context.Context, j *Journal, kind string, restsOn any,
	do func(context.Context) (T, error)) (T, error) {
	if v, ok := Known[T](j, kind, restsOn); ok {
		return v, nil
	}
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	j.asked.Add(1)
	v, err := do(ctx)
	if err == nil {
		err = Put(j, kind, restsOn, v)
	}
	if err != nil {
		return none, err
	}
	v, _ = Known[T](j, kind, restsOn)
	return v, nil
}

// Known returns the result that is recorded. One that does not fit its type is not known.
func Known[T any](j *Journal, kind string, restsOn any) (v T, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	i := j.index(j.key(kind, restsOn))
	return v, i >= 0 && json.Unmarshal(j.entries[i].Value, &v) == nil
}

// Put records a result, in place of one that is there.
func Put(j *Journal, kind string, restsOn, v any) error {
	value, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("record %s: %w", kind, err)
	}
	e := entry(kind, j.key(kind, restsOn), value)
	j.mu.Lock()
	if i := j.index(e.Key); i >= 0 {
		j.entries[i] = e
	} else {
		j.entries = append(j.entries, e)
	}
	j.mu.Unlock()
	if j.Saved == nil {
		return nil
	}
	return j.Saved(kind)
}

// Forget removes a result, so that it is asked for again.
func (j *Journal) Forget(kind string, restsOn any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if i := j.index(j.key(kind, restsOn)); i >= 0 {
		j.entries = slices.Delete(j.entries, i, i+1)
	}
}

// Drop removes the results of a kind that are to go.
func Drop[T any](j *Journal, kind string, goes func(T) bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = slices.DeleteFunc(j.entries, func(e Entry) bool {
		var v T
		return e.Kind == kind && json.Unmarshal(e.Value, &v) == nil && goes(v)
	})
}

func (j *Journal) all() []Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.entries)
}

// All returns the results of a kind.
func All[T any](j *Journal, kind string) (all []T) {
	for _, e := range j.all() {
		var v T
		if e.Kind == kind && json.Unmarshal(e.Value, &v) == nil {
			all = append(all, v)
		}
	}
	return all
}

// index returns the place of an entry. New ones are looked for most.
func (j *Journal) index(key string) int {
	for i := len(j.entries) - 1; i >= 0; i-- {
		if j.entries[i].Key == key {
			return i
		}
	}
	return -1
}

// MarshalJSON returns a list of texts, an entry each: whoever saves a notebook need not take them
// apart.
func (j *Journal) MarshalJSON() ([]byte, error) {
	texts := []string{}
	for _, e := range j.all() {
		texts = append(texts, e.text)
	}
	return json.Marshal(texts)
}

// UnmarshalJSON reads that list. A text that somebody has changed into something else is not known.
func (j *Journal) UnmarshalJSON(data []byte) error {
	var texts []string
	if err := json.Unmarshal(data, &texts); err != nil {
		return err
	}
	for _, text := range texts {
		e := Entry{text: text}
		if json.Unmarshal([]byte(text), &e) == nil {
			j.entries = append(j.entries, e)
		}
	}
	return nil
}
