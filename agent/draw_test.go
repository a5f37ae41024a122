package agent_test

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dsstar/agent/record"
	"dsstar/notebook"
)

// TestNotebookIsTheRecord: any trajectory, at any point of it, is read back whole from its notebook,
// whose code cells are the accepted steps; see checkNotebook.
func TestNotebookIsTheRecord(t *testing.T) {
	once(t)
	rapid.Check(t, func(t *rapid.T) {
		yes, few, some := rapid.Bool(), rapid.IntRange(0, 9), rapid.IntRange(0, 2)
		tr := &record.Trajectory{
			Task: record.Task{Question: text.Draw(t, "question"), Guidelines: text.Draw(t, "guidelines"),
				Data: text.Draw(t, "data"), Others: few.Draw(t, "others"), Unread: texts.Draw(t, "unread")},
			// Beyond the second, a time is in the notebook as JSON has it.
			Started: time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "started"),
				rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC(),
			Environment: rapid.SampledFrom([]string{"", "Python 3.12.1 with pandas 2.2", "other"}).Draw(t, "environment"),
			Models:      texts.Draw(t, "models"), Warnings: texts.Draw(t, "warnings"),
			Failure: text.Draw(t, "failure"), Ended: yes.Draw(t, "ended"),
			Seconds: record.Seconds{Total: rapid.Float64Range(0, 1e6).Draw(t, "seconds")},
			Method:  record.Method{Script: yes.Draw(t, "script")},
		}
		if yes.Draw(t, "priced") {
			cost := rapid.Float64Range(0, 100).Draw(t, "cost")
			tr.Cost, tr.ByRole = &cost, map[string]record.Usage{"cell": {Calls: 1}}
		}
		tr.Usage.Calls, tr.Usage.CachedTokens = few.Draw(t, "calls"), few.Draw(t, "cached")
		for _, name := range texts.Draw(t, "files") {
			tr.Task.Files = append(tr.Task.Files, record.File{Name: name, Size: rapid.Int64Min(0).Draw(t, "size")})
			tr.Descriptions = append(tr.Descriptions, record.Description{
				Like: text.Draw(t, "like"), Kind: text.Draw(t, "kind"), Whole: yes.Draw(t, "whole"),
				Failed: failed(t), Cached: yes.Draw(t, "from cache"), Corrected: yes.Draw(t, "corrected"),
				File: name, Text: text.Draw(t, "text"), Code: text.Draw(t, "code"),
				Tries: few.Draw(t, "tries"), Error: text.Draw(t, "error"),
			})
		}
		last := checkNotebook(t, tr, &notebook.Notebook{})
		for range rapid.IntRange(0, 6).Draw(t, "rounds") {
			step := len(tr.Plan()) + 1
			round := record.Round{Step: text.Draw(t, "step"), Attempts: failed(t), Returns: returns(t)}
			if some.Draw(t, "ran") > 0 {
				round.Attempts = append(round.Attempts, good(t))
				round.Verdict = &record.Verdict{Reason: text.Draw(t, "reason"), Sufficient: yes.Draw(t, "sufficient"),
					Inconclusive: yes.Draw(t, "inconclusive")}
				if !round.Verdict.Sufficient {
					round.Route = &record.Route{Back: rapid.IntRange(0, step).Draw(t, "back"), Reason: text.Draw(t, "route")}
				}
			} else if yes.Draw(t, "dropped") {
				round.Verdict, round.Route = &record.Verdict{}, &record.Route{Back: step, Reason: text.Draw(t, "reason")}
			}
			tr.Rounds = append(tr.Rounds, round)
			if last = checkNotebook(t, tr, last); round.Route == nil {
				break // it is under way, or sufficient
			}
		}
		if yes.Draw(t, "final") {
			tr.Final = &record.Final{Attempts: failed(t), Returns: returns(t)}
			if yes.Draw(t, "answered") {
				tr.Final.Attempts, tr.Final.Answer = append(tr.Final.Attempts, good(t)), text.Draw(t, "answer")
				tr.Proof = &record.Proof{Same: yes.Draw(t, "same"), Reason: text.Draw(t, "reason"), Seconds: 1.5}
			}
			checkNotebook(t, tr, last)
		}
	})
}

var (
	text = rapid.OneOf(rapid.SampledFrom([]string{"", "x", "```\n# %% x\n```",
		"<b>&amp;\u2028é 数\U0001f600", "a\r\nb\x1b[31mc\x00",
		"![x](http://e.test)", "``a`![x](http://e.test)", "`<img src=http://e.test>`",
		"a\n\n![x](http://e.test)", "</details>\n\n<img src=http://e.test>"}), rapid.StringN(0, 20, -1))
	texts = rapid.SliceOfN(text, 0, 3)
)

func failed(t *rapid.T) (all []record.Attempt) {
	for range rapid.IntRange(0, 2).Draw(t, "failed") {
		a := good(t)
		a.Execution.Status = rapid.SampledFrom([]notebook.Status{notebook.Raised, notebook.TimedOut,
			notebook.Died, notebook.NotRun}).Draw(t, "status")
		a.Execution.Reason = text.Draw(t, "reason")
		all = append(all, a)
	}
	return all
}

func returns(t *rapid.T) (all []record.Return) {
	for range rapid.IntRange(0, 2).Draw(t, "returns") {
		all = append(all, record.Return{After: rapid.IntRange(0, 4).Draw(t, "after"),
			Restoration: notebook.Restoration{
				Way: rapid.SampledFrom([]notebook.Way{notebook.ByCheckpoint, notebook.ByReplay,
					notebook.ByNames, notebook.NotAtAll}).Draw(t, "way"),
				Kept: rapid.IntRange(0, 9).Draw(t, "kept"), Why: text.Draw(t, "why"),
				Seconds: rapid.Float64Range(0, 99).Draw(t, "seconds"),
			}})
	}
	return all
}

func good(t *rapid.T) record.Attempt {
	e := notebook.Execution{Status: notebook.OK, Count: rapid.IntRange(0, 99).Draw(t, "count"),
		Seconds: rapid.Float64Range(0, 1e4).Draw(t, "seconds")}
	for range rapid.IntRange(0, 3).Draw(t, "outputs") {
		o := notebook.Output{Type: rapid.SampledFrom([]notebook.OutputType{
			notebook.Stream, notebook.DisplayData, notebook.ExecuteResult, notebook.ErrorOutput,
		}).Draw(t, "type")}
		switch o.Type {
		case notebook.Stream:
			o.Name, o.Text = rapid.SampledFrom([]string{"stdout", "stderr"}).Draw(t, "name"),
				text.Draw(t, "text")
		case notebook.ErrorOutput:
			o.EName, o.EValue, o.Traceback = text.Draw(t, "ename"), text.Draw(t, "evalue"),
				texts.Draw(t, "traceback")
		default:
			o.Data = notebook.MIMEBundle{
				"text/plain": text.Draw(t, "plain"), "image/png": "iVBORw0KGgo=\n",
				"image/svg+xml": "<svg>\n</svg>",
				"application/json": map[string]any{"a": json.Number("12345678901234567890"),
					"b": []any{"x\ny", nil, true}},
			}
			o.Metadata = map[string]any{"needs": text.Draw(t, "metadata")}
		}
		if o.Type == notebook.ExecuteResult {
			o.ExecutionCount = e.Count
		}
		e.Outputs = append(e.Outputs, o)
	}
	return record.Attempt{Code: text.Draw(t, "code"), Execution: e}
}
