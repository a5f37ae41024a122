package solver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"dsstar/agent/brief"
	"dsstar/agent/describe"
	"dsstar/agent/reply"
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

// pool is the file with the experiences and tools of all questions of a solver. Without a
// path it is always empty. No other program must write to the file at the same time.
type pool struct {
	path   string
	adding sync.Mutex // the file is replaced as a whole
}

type remembered struct {
	Experiences []Experience `json:"experiences"`
	Tools       []Tool       `json:"tools"`
}

// read returns what was learnt from other questions. It omits what earlier runs learnt from the
// same question, which must not help to answer it.
func (m *pool) read(question string) (r remembered, err error) {
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
	m.adding.Lock()
	defer m.adding.Unlock()
	r, err := m.read(question)
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
	lesson, problem, err := noted(ctx, q, "Lesson of task "+string(n.ID), "reflector",
		fmt.Sprintf("%s, round %d", q.subject(n), q.rounds), lessons, prompts.InterpreterReflect{
			Instruction: n.Instruction, Code: n.code, Result: n.result, Failed: !n.done})
	if err == nil && problem == "" {
		q.learnt = append(q.learnt, Experience{n.Instruction, n.code, n.result, n.done, lesson,
			q.meta.Task.Question})
	}
	return err
}

var lessons = reply.Format[string]{Rule: "Reply with the lesson alone.",
	Parse: func(text string) (string, error) { return text, nil }}
