package reply

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"dsstar/agent/record"
	"dsstar/kernel/pyenv/pyenvtest"
)

var seeds = []string{
	"```python\nx = 1\n```", "~~~\n```\n~~~", "1. ```py\n   x\n   ```",
	"<pre><code>x = 1</code></pre>", "{\"code\": \"x = 1\"}", "import a\nprint(a)",
	"```python\nx = '''\n```", "In [1]: x",
	"Step 3: Load.", "1. a\n2. b", "{\"step\": \"Load\"}", "Verdict: sufficient\nReason: x",
	"Verdict: sufficient / insufficient", "Verdict:\n\n**inconclusive**\nReason: y",
	"| Verdict | Missing |\n|---|---|\n| insufficient | x |", "No, it isn't sufficient.",
	"{\"verdict\": \"insufficient\", \"missing\": \"x\"}", "The plan is not yet sufficient",
	"Add Step", "**Step 2** is wrong", "Steps two and 3", "step_six",
	"Remove Step 3 and add Step 3 again",
	"Go back to step one", "Form: does not fit\nProblem: x", "fits ❌",
	"<think>a</think>b", "<think>", "[THINK]</think>\r\n2", "I'm sorry, but I can't", "", "\xff",
	"`{\"'*2", "\ufeff",
	"Step: Load.\nReading: a\nOption 1: b\nOption 2: c\nTaken: 1\nSettled: no\n```python\nx = 1\n```",
	"{\"step\": \"a\", \"readings\": [{\"point\": \"b\", \"options\": [\"c\", \"d\"], \"taken\": 1}], " +
		"'code': 'x',}",
	"Verdict: insufficient\nReason: x\nWrong step: 2",
	"{\"verdict\": \"sufficient\", \"code\": \"\\u00e9\\ud83d\"}",
	"Branch 1.2\nKeeps: 1\n```python\nx = 1\n```",
	"[{\"branch\": \"1.2\", \"keeps\": 0, \"code\": \"\"\"x\"\"\"}]",
	"Ruling: reading\nReading: a\nOption A: b\nOption B: c",
	"{\"arguments\": \"{\\\"ruling\\\": \\\"same\\\"}\"}",
	"| Reading | Option 1 | Option 2 | Taken |\n|---|---|---|---|\n| a | b | c | 2 |\nCode:\nx = 1",
}

// seed gives a fuzz test the replies to begin with.
func seed(f *testing.F) {
	for _, reply := range seeds {
		f.Add(reply)
	}
}

// FuzzCode: whatever a model says, what is read as code stands in the reply, and is read again.
func FuzzCode(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, reply string) {
		code, err := Code.readText(reply)
		if (err == nil) != (strings.TrimSpace(code) != "") {
			t.Errorf("code %q, %v", code, err)
		}
		if strings.ContainsAny(reply, "\r{") {
			return // it may have been JSON
		}
		for line := range strings.Lines(code) {
			if !strings.Contains(reply, strings.TrimSpace(line)) {
				t.Errorf("line %q is not in the reply", line)
			}
		}
		if code == "" || strings.Contains(code, "`````") || strings.ContainsAny(code, "<[") ||
			strings.HasPrefix(code, "# %%") || code != strings.TrimLeft(code, " \t") {
			return // it may be read otherwise
		}
		dressed, err := Code.readText("Sure:\n````````python\n" + code + "\n````````")
		if again, err2 := cell(code); err2 == nil && again == code && (err != nil || dressed != code) {
			t.Errorf("code %q read again is %q, %v", code, dressed, err)
		}
	})
}

// FuzzVerdict: a verdict that suffices has words for it in the reply, one that
// is inconclusive a reason.
func FuzzVerdict(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, reply string) {
		if !utf8.ValidString(reply) {
			return
		}
		lower := strings.ToLower(reply)
		isJSON := strings.Contains(reply, `\`)
		v, err := verdict.readText(reply)
		switch {
		case err != nil && v != (record.Verdict{}), !utf8.ValidString(v.Reason),
			v.Inconclusive && (!v.Sufficient || v.Reason == ""):
			t.Errorf("verdict %+v, %v", v, err)
		case v.Sufficient && !v.Inconclusive && !isJSON && !strings.Contains(lower, "sufficient") &&
			!strings.Contains(lower, "yes"):
			t.Errorf("verdict %+v", v)
		case v.Inconclusive && !strings.Contains(lower, "verdict") && !isJSON:
			t.Errorf("verdict %+v", v)
		}
		if yes, err := YesNo.readText(reply); yes.Inconclusive || err == nil && yes != v {
			t.Errorf("yes or no %+v, %v; verdict %+v", yes, err, v)
		}
	})
}

// FuzzRoute: a route is within the plan, and its words are in the reply.
func FuzzRoute(f *testing.F) {
	for _, reply := range seeds {
		f.Add(reply, 3)
	}
	f.Fuzz(func(t *testing.T, reply string, steps int) {
		r, err := Route(steps).readText(reply)
		if r.Back < 0 || r.Back > max(steps, 0) || err != nil && r != (record.Route{}) || r.Reason != "" {
			t.Errorf("route %+v of %d, %v", r, steps, err)
		}
		says := strings.Contains(strings.ToLower(reply), "add") || strings.Contains(reply, `\`)
		if err == nil && r.Back == 0 && !says {
			t.Errorf("it adds a step by %q", reply)
		}
	})
}

// FuzzStep: a step is one line that says something; a text is never empty.
func FuzzStep(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, reply string) {
		step, err := Step.readText(reply)
		if (err == nil) != (step != "") || strings.Contains(step, "\n") ||
			strings.Contains(step, "```") || len(step) > 2000 {
			t.Errorf("step %q, %v", step, err)
		}
		if text, err := Text.readText(reply); (err == nil) != (strings.TrimSpace(text) != "") {
			t.Errorf("text %q, %v", text, err)
		}
		if err != nil && KindOf(err) == "" {
			t.Error(err)
		}
	})
}

// FuzzSolution: what a reply in one of the new forms says is whole, and within what was asked.
func FuzzSolution(f *testing.F) {
	seed(f)
	asked := []Branch{{Point: 1, Option: 2}, {Point: 2, Option: 1}}
	f.Fuzz(func(t *testing.T, reply string) {
		s, err := Solutions(true).readText(reply)
		whole := err == nil || IsPart(err)
		if whole != (s.Step != "" && s.Code != "") || !whole && len(s.Readings) > 0 {
			t.Errorf("%+v, %v", s, err)
		}
		for _, r := range s.Readings {
			read := len(r.Options) > 1 && r.Chosen >= 0 && r.Chosen < len(r.Options) && r.Point != ""
			if read == (r.Problem != "") || r.Settled && r.Evidence == "" {
				t.Errorf("%+v", r)
			}
		}
		j, err := Judgements(3, 0, nil, false).readText(reply)
		if err != nil && !reflect.DeepEqual(j, Judgement{}) || j.Wrong < 0 || j.Wrong > 3 ||
			j.Sufficient != (j.Code != "") || j.Sufficient && j.Wrong > 0 {
			t.Errorf("%+v, %v", j, err)
		}
		all, err := Branches(asked, 3).readText(reply)
		if (err == nil) != (len(all) > 0) || len(all) > 2 {
			t.Errorf("%+v, %v", all, err)
		}
		for _, b := range all {
			if !slices.Contains(asked, Branch{Point: b.Point, Option: b.Option}) || b.Steps < 0 ||
				b.Steps > 3 || b.Code == "" {
				t.Errorf("%+v", b)
			}
		}
		r, err := Rulings(3).readText(reply)
		if (err == nil) != (r.Ruling != "") || r.Ruling == "second" && r.Reason == "" ||
			(r.Ruling == "reading") != (len(r.Options) == 2 && r.Point != "") ||
			r.Wrong < 0 || r.Wrong > 3 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// TestLongReplies: no reply takes time out of proportion to its length. The
// limit is far above what it takes, and far below what a quadratic reader does.
func TestLongReplies(t *testing.T) {
	pyenvtest.Long(t)
	const size = 1 << 16
	for _, part := range []string{
		"```\n", "```python\nx = 1\n```\n", "```python\n", "~~~ ", "`", "> ", "- ", "Step ", "Step 1 ",
		"Step 1\n", "Steps 1, ", "Add Step ", "add a ", "</think>", "<think>\n", "<think></think>\n", "[",
		"<pre>\n", "<code>x</code>\n", "\"", "'''", "\"\"\"\n", "(", "x = (\n", "{\"a\":",
		"{\"code\": \"", "| a ", "| a | b |\n", "|---|---|\n", "Verdict: ", "Verdict:\n",
		"Verdict: sufficient\n", "Yes. ",
		"The plan is sufficient. ", "The plan is sufficient x. ", "not ", "sufficient ", "Reason:\n",
		"Form: fits ", "1. ", "1. a\n", " ", "\n", "x",
		"import a\n", "print(x)\n", "# %%\n", "In [1]: ", "a, ", "a = ", "for x in ", "sorry ", "✅", "*",
		"<think>", "\xff", "_",
		"Step: a\n", "Step:\na\n", "Code:\nx = 1\n", "Reading: a\n", "Option 1: a\n", "Taken: 1\n",
		"Wrong step: 1\n", "Branch 1.2\nKeeps: 1\n", "Ruling: first\n", "[\n", "[{", "{\"step\": ",
		"{\"step\": \"\" ", "\\u00e9", "{\"step\": \"\"\"", "[{\"branch\": \"1.2\"}, ", "{\"a\": 1}\n",
	} {
		for _, reply := range []string{
			strings.Repeat(part, size/len(part)),
			strings.Repeat(part, 1<<13/len(part)), // short enough to be read
			"<think>" + strings.Repeat(part, size/len(part)/2) + strings.Repeat(" ", size/2) + "x",
		} {
			for role, parse := range map[string]func() error{
				"code":      func() error { _, err := Code.readText(reply); return err },
				"step":      func() error { _, err := Step.readText(reply); return err },
				"verdict":   func() error { _, err := verdict.readText(reply); return err },
				"route":     func() error { _, err := Route(5).readText(reply); return err },
				"solution":  func() error { _, err := Solutions(true).readText(reply); return err },
				"judgement": func() error { _, err := Judgements(5, 0, nil, false).readText(reply); return err },
				"branches": func() error {
					_, err := Branches([]Branch{{Point: 1, Option: 2}}, 5).readText(reply)
					return err
				},
				"ruling": func() error { _, err := Rulings(5).readText(reply); return err },
				"text":   func() error { _, err := Text.readText(reply); return err },
			} {
				start := time.Now()
				_ = parse() // any error will do
				if took := time.Since(start); took > 15*time.Second {
					t.Errorf("%s of %d times %q took %v", role, len(reply)/len(part), part, took)
				}
			}
		}
	}
}
