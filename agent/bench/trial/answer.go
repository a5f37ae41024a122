package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
	"dsstar/agent/llm"
	"dsstar/agent/reply"
	"dsstar/prompts"
)

// Answers returns the answers of one repeat of a run, in the order of its tasks.
func Answers(r runner.Result, tasks map[string]bench.Task, repeat int) []bench.Answer {
	var all []bench.Answer
	for _, record := range r.Records {
		if record.Key().Repeat == repeat {
			all = append(all, answerOf(record, tasks[record.Task], r.Path))
		}
	}
	return all
}

// answerOf returns the answer of a record, for scorers; out is the folder of its run.
// DA-Code gives no points to an agent that used up its steps, so its answer is unfinished
// there. Under all other rules it counts.
func answerOf(r runner.Record, task bench.Task, out string) bench.Answer {
	dir := runner.TaskFolder(out, r.Key())
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs // kernels have another working folder
	}
	answer := bench.Answer{
		ID: r.Task, Dir: filepath.Join(dir, "files"),
		Steps: r.Rounds, Actions: r.Executions, Failed: r.Failed,
		Unfinished: r.Error != "" || !r.Finished && task.Rules == "dacode",
	}
	switch text := strings.TrimSpace(r.Answer); {
	case text == "":
	case task.Rules == "kramabench" && isValue(task.Kind, text):
		answer.Value = json.RawMessage(text)
	default:
		answer.Value = bench.Said(r.Answer)
	}
	return answer
}

// isValue reports whether the text of an answer of that type is a JSON value: a number
// or list if the type is one. A string such as "true" stays a string.
func isValue(kind, text string) bool {
	numeric := strings.HasPrefix(kind, "numeric_") && strings.ContainsAny(text[:1], "-0123456789")
	list := strings.HasPrefix(kind, "list_") && text[0] == '['
	return (numeric || list) && json.Valid([]byte(text))
}

// withScore returns the record with a new score and the cause that follows from it.
func withScore(record runner.Record, s bench.Score) runner.Record {
	value := s.Value
	record.Score, record.Metric, record.Scores = &value, s.Metric, s.Parts
	record.Detail, record.Unscored, record.Uncounted = s.Detail, "", s.Uncounted
	switch {
	case record.Error != "": // its cause is known
	case record.Right():
		record.Cause = ""
	case strings.TrimSpace(record.Answer) == "":
		record.Cause = runner.NoAnswer
	case !record.Finished:
		record.Cause = runner.NotFinished
	default:
		record.Cause = runner.Wrong
	}
	return record
}

// Judge returns a judge that asks a model whether two answers mean the same.
func Judge(m llm.Model, words *prompts.Set) bench.Judge {
	return func(ctx context.Context, answer, gold string) (bool, error) {
		asks, err := words.Text(prompts.Grader{Gold: gold, Answer: answer})
		if err != nil {
			return false, err
		}
		judgement, err := m.Ask(ctx, llm.Request{
			Role: "judge", Subject: "the answer",
			Ground:   llm.GroundOf(nil, answer, gold),
			Messages: []llm.Message{{Role: "user", Text: asks}},
		})
		if _, ok := errors.AsType[*llm.CredentialError](err); ok {
			return false, &bench.StopError{Err: err}
		}
		if err != nil {
			return false, err
		}
		text, err := reply.Visible(judgement.Text)
		if err != nil {
			return false, err
		}
		word := strings.ToLower(strings.Trim(strings.TrimSpace(text), ".*\"'`"))
		switch {
		case strings.HasPrefix(word, "yes"):
			return true, nil
		case strings.HasPrefix(word, "no"):
			return false, nil
		}
		return false, fmt.Errorf("the judge says neither yes nor no: %s", shorten(text, 80))
	}
}

// shorten returns text as one line. most is its maximum length, in characters.
func shorten(text string, most int) string {
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) > most {
		line = append(line[:most-1], '…')
	}
	return string(line)
}
