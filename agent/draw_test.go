package agent_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"dsstar/agent/record"
	"dsstar/notebook"
)

// TestNotebookIsTheRecord: any trajectory, at any point of it, is read back
// whole from its notebook, whose code cells are the accepted steps; see
// checkNotebook. Which those are is worked out here from the routes as drawn.
func TestNotebookIsTheRecord(t *testing.T) {
	once(t)
	rapid.Check(t, func(t *rapid.T) {
		tr := &record.Trajectory{
			Task: record.Task{Question: text.Draw(t, "question"), Guidelines: text.Draw(t, "guidelines"),
				Data: text.Draw(t, "data")},
			// Beyond the second, a time is in the notebook as JSON has it.
			Started: time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "started"),
				rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC(),
			Environment: rapid.SampledFrom([]string{"", "Python 3.12.1 with pandas 2.2", "other"}).Draw(t,
				"environment"),
			Models: texts.Draw(t, "models"), Warnings: texts.Draw(t, "warnings"),
			Failure: text.Draw(t, "failure"),
			Seconds: record.Seconds{Total: rapid.Float64Range(0, 1e6).Draw(t, "seconds")},
			Ended:   rapid.Bool().Draw(t, "ended"),
		}
		tr.Method = record.Method{Script: rapid.Bool().Draw(t, "script")}
		tr.Task.Others, tr.Task.Unread = rapid.IntRange(0, 9).Draw(t, "others"), texts.Draw(t, "unread")
		if rapid.Bool().Draw(t, "priced") {
			cost := rapid.Float64Range(0, 100).Draw(t, "cost")
			tr.Cost, tr.ByRole = &cost, map[string]record.Usage{"cell": {Calls: 1}}
		}
		tr.Usage.Calls, tr.Usage.CachedTokens = rapid.IntRange(0, 9).Draw(t, "calls"),
			rapid.IntRange(0, 9).Draw(t, "cached")
		for _, name := range texts.Draw(t, "files") {
			tr.Task.Files = append(tr.Task.Files, record.File{Name: name,
				Size: rapid.Int64Min(0).Draw(t, "size")})
			tr.Descriptions = append(tr.Descriptions, record.Description{
				Like: text.Draw(t, "like"), Kind: text.Draw(t, "kind"), Whole: rapid.Bool().Draw(t, "whole"),
				Failed: failed(t),
				Cached: rapid.Bool().Draw(t, "from cache"), Corrected: rapid.Bool().Draw(t, "corrected"),
				File: name, Text: text.Draw(t, "text"), Code: text.Draw(t, "code"),
				Tries: rapid.IntRange(0, 3).Draw(t, "tries"), Error: text.Draw(t, "error"),
			})
		}
		last := checkNotebook(t, tr, &notebook.Notebook{})
		var plan []string
		for range rapid.IntRange(0, 6).Draw(t, "rounds") {
			last = drawRound(t, tr, &plan, last)
			cells := plan
			if tr.Method.Script {
				cells = plan[max(0, len(plan)-1):] // the last script is all of it
			}
			if diff := cmp.Diff(cells, tr.Cells()[2:], cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("the accepted cells (-want +got)\n%s", diff)
			}
			if n := len(tr.Rounds); tr.Rounds[n-1].Route == nil {
				break // it is under way, or sufficient
			}
		}
		if rapid.Bool().Draw(t, "final") {
			tr.Final = &record.Final{Attempts: failed(t), Returns: returns(t)}
			if rapid.Bool().Draw(t, "answered") {
				tr.Final.Attempts = append(tr.Final.Attempts, good(t))
				tr.Final.Answer = text.Draw(t, "answer")
				tr.Proof = &record.Proof{Same: rapid.Bool().Draw(t, "same"), Reason: text.Draw(t, "reason"),
					Seconds: 1.5}
			}
			checkNotebook(t, tr, last)
			if _, ok := (record.Round{Attempts: tr.Final.Attempts}).Accepted(); ok && tr.Method.Script &&
				len(tr.Cells()) != 3 {
				t.Fatalf("beside the last script are the cells %q", tr.Cells())
			}
		}
	})
}

// drawRound adds a round, at first under way, and tells what it does to the plan.
func drawRound(t *rapid.T, tr *record.Trajectory, plan *[]string,
	last *notebook.Notebook) *notebook.Notebook {
	tr.Rounds = append(tr.Rounds, record.Round{Step: text.Draw(t, "step")})
	round := &tr.Rounds[len(tr.Rounds)-1]
	round.Attempts, round.Returns = failed(t), returns(t)
	last = checkNotebook(t, tr, last)
	step := len(*plan) + 1
	switch rapid.SampledFrom([]string{"under way", "dropped", "ran", "judged", "sufficient", "add",
		"back", "back"}).Draw(t, "fate") {
	case "under way":
		return last
	case "dropped":
		round.Verdict, round.Route = &record.Verdict{Reason: text.Draw(t, "reason")},
			&record.Route{Back: step, Reason: text.Draw(t, "reason")}
		return checkNotebook(t, tr, last)
	case "ran":
	case "judged":
		round.Verdict = &record.Verdict{Reason: text.Draw(t, "reason")}
	case "sufficient":
		round.Verdict = &record.Verdict{Sufficient: true,
			Inconclusive: rapid.Bool().Draw(t, "inconclusive"), Reason: text.Draw(t, "reason")}
	case "add":
		round.Verdict, round.Route = &record.Verdict{}, &record.Route{}
	case "back":
		round.Verdict, round.Route = &record.Verdict{},
			&record.Route{Back: rapid.IntRange(1, step).Draw(t, "back"), Reason: text.Draw(t, "reason")}
	}
	a := good(t)
	round.Attempts = append(round.Attempts, a)
	if *plan = append(*plan, a.Code); round.Route != nil && round.Route.Back > 0 {
		*plan = (*plan)[:round.Route.Back-1]
	}
	return checkNotebook(t, tr, last)
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
