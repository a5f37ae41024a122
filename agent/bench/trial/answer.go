package trial

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"

	"dsstar/agent/ask"
	"dsstar/agent/bench"
	"dsstar/agent/bench/runner"
	"dsstar/agent/llm"
	"dsstar/agent/reply"
	"dsstar/prompts"
)

// Answers returns the answers of a run by repeat, in the order of its tasks.
func Answers(r runner.Result, tasks map[string]bench.Task) [][]bench.Answer {
	all := make([][]bench.Answer, max(1, r.Repeat))
	for _, record := range r.Records {
		i := record.Key().Repeat - 1
		all[i] = append(all[i], answerOf(record, tasks[record.Task], r.Path))
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

// withScore returns the record with a new score, if there is one, and the cause that follows from it.
func withScore(record runner.Record, s bench.Score) runner.Record {
	if s.Value == nil {
		record.Unscored = s.Detail
		return record
	}
	record.Score, record.Metric, record.Scores = s.Value, s.Metric, s.Parts
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

// Save records in a run the scores of its repeats that differ from its own.
func Save(r runner.Result, scores bench.Scores) error {
	folder, err := runner.Open(r.Path)
	if err != nil {
		return err
	}
	defer folder.Close()
	of := map[runner.Key]bench.Score{}
	for i, score := range scores.Each {
		of[runner.Key{ID: score.ID, Repeat: 1 + i/len(scores.Tasks)}] = score
	}
	for _, record := range r.Records {
		s := of[record.Key()]
		was, scored := record.Value()
		if s.Value == nil || scored && was == *s.Value && record.Uncounted == s.Uncounted {
			continue
		}
		record.Spent = nil
		if err := folder.Append(withScore(record, s)); err != nil {
			return err
		}
	}
	return nil
}

// Judge returns a judge that asks a model whether two answers mean the same.
func Judge(m llm.Model, words *prompts.Set) bench.Judge {
	caller := ask.NewCaller(ask.Settings{Model: m, Prompts: words})
	return func(ctx context.Context, answer, gold string) (bool, error) {
		text, err := words.Text(prompts.Grader{Gold: gold, Answer: answer})
		if err != nil {
			return false, err
		}
		same, err := ask.Model(ctx, caller, llm.Request{Role: "judge", Subject: "the answer",
			RestsOn: []any{answer, gold}, Messages: []llm.Message{{Role: "user", Text: text}}}, yesOrNo)
		if _, refused := errors.AsType[*llm.CredentialError](err); refused {
			return false, &bench.StopError{Err: err}
		}
		return same, err
	}
}

var yesOrNo = reply.Format[bool]{
	Rule: "Reply with yes or no alone.",
	Parse: func(text string) (bool, error) {
		word := strings.ToLower(strings.TrimLeft(text, " .*\"'`\n"))
		if yes := strings.HasPrefix(word, "yes"); yes || strings.HasPrefix(word, "no") {
			return yes, nil
		}
		return false, errors.New("it says neither yes nor no")
	},
}

// shorten returns text as one line. most is its maximum length, in characters.
func shorten(text string, most int) string {
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) > most {
		line = append(line[:most-1], '…')
	}
	return string(line)
}
