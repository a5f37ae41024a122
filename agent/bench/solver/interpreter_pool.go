package solver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"

	"dsstar/agent/brief"
	"dsstar/agent/describe"
	"dsstar/agent/llm"
	"dsstar/notebook/disk"
	"dsstar/prompts"
)

// An Experience is what was learnt from a done or failed task (Data Interpreter, section
// 3.3.2).
type Experience struct {
	Task     string `json:"task"`
	Code     string `json:"code"`   // the task's last code
	Answer   string `json:"answer"` // the result of that code
	Done     bool   `json:"done"`
	Lesson   string `json:"lesson"`             // in the model's words
	Question string `json:"question,omitempty"` // the question of the task
}

// A Pool is the experience pool of a run: a file to which its questions add. A replay works on
// a copy, because it must neither see later additions nor repeat the run's own.
type Pool struct {
	File     string // "": none
	Replayed string // folder of the replayed run; "": not a replay
}

// The files of a run folder.
const (
	poolBefore = "pool-before.json" // the pool when the run began
	poolCopy   = "pool.json"        // the copy that a replay works on
)

// In returns the pool file that a run in the folder out uses.
func (p Pool) In(out string) string {
	if p.File == "" || p.Replayed == "" {
		return p.File
	}
	return filepath.Join(out, poolCopy)
}

// Read returns the initial pool of a new run; nil: it has no pool.
func (p Pool) Read() ([]byte, error) {
	if p.File == "" {
		return nil, nil
	}
	if p.Replayed != "" {
		return disk.ReadFile(filepath.Join(p.Replayed, poolBefore), disk.MaxDocument)
	}
	data, err := disk.ReadFile(p.File, disk.MaxDocument)
	if errors.Is(err, fs.ErrNotExist) {
		return []byte("{}\n"), nil // this run creates it
	}
	return data, err
}

// Keep saves what Read returned in the run's folder.
func (p Pool) Keep(out string, data []byte) error {
	if data == nil {
		return nil
	}
	err := disk.WriteFile(filepath.Join(out, poolBefore), data)
	if err == nil && p.Replayed != "" {
		err = disk.WriteFile(p.In(out), data)
	}
	return err
}

// pool is the file with the experiences and tools of all questions of a solver. Without a
// path it is always empty. No other program must write to the file at the same time.
type pool struct {
	path string
	mu   sync.Mutex
}

type remembered struct {
	Experiences []Experience `json:"experiences"`
	Tools       []Tool       `json:"tools"`
}

// read returns what was learnt from other questions. It omits what earlier runs learnt from the
// same question, which must not help to answer it.
func (m *pool) read(question string) (remembered, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.others(question)
}

func (m *pool) others(question string) (r remembered, err error) {
	if m.path == "" {
		return r, nil
	}
	data, err := disk.ReadFile(m.path, disk.MaxDocument)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return r, fmt.Errorf("read the experience pool: %w", err)
	}
	r.Experiences = slices.DeleteFunc(r.Experiences,
		func(e Experience) bool { return e.Question == question })
	r.Tools = slices.DeleteFunc(r.Tools, func(t Tool) bool { return t.Question == question })
	return r, nil
}

// add stores what was learnt from a question, and replaces what was learnt from it before.
func (m *pool) add(question string, learnt []Experience, made []Tool) error {
	if m.path == "" {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.others(question)
	if err != nil {
		return err
	}
	r.Experiences = append(r.Experiences, learnt...)
	for _, t := range made {
		r.Tools = withTool(r.Tools, t)
	}
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return disk.WriteFile(m.path, append(data, '\n'))
}

// reused is the number of experiences that a coder sees. The paper does not give it.
const reused = 3

// near returns the experiences most similar to a task, as text for the coder.
func near(pool []Experience, task string) (texts []string) {
	var tasks []string
	for _, e := range pool {
		tasks = append(tasks, e.Task)
	}
	order := describe.NearByWords(task, tasks, 0)
	for _, i := range order[:min(reused, len(order))] {
		e, state := pool[i], "done"
		if !e.Done {
			state = "failed"
		}
		texts = append(texts, fmt.Sprintf("Task (%s): %s\n\n%s\n\nCode:\n%s\n\nResult:\n%s", state,
			e.Task, e.Lesson, e.Code, brief.Clip(e.Answer, 1000)))
	}
	return texts
}

// reflect asks the model for the lesson of a task, if there is a pool to keep it.
func (q *inquiry) reflect(ctx context.Context, n *node) error {
	if q.memory.path == "" || n.code == "" {
		return nil
	}
	r, err := q.request("reflector", fmt.Sprintf("%s, round %d", q.subject(n), q.rounds),
		prompts.InterpreterReflect{Instruction: n.Instruction, Code: n.code, Result: n.result,
			Failed: !n.done})
	if err != nil {
		return err
	}
	reply, err := q.Call(ctx, r)
	if errors.Is(err, llm.ErrContextLength) {
		return nil
	}
	if err != nil {
		return err
	}
	if lesson, problem := readable(reply); problem == "" {
		q.learnt = append(q.learnt, Experience{n.Instruction, n.code, n.result, n.done, lesson,
			q.meta.Task.Question})
	}
	return nil
}
