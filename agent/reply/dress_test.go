package reply

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dsstar/agent/record"
)

// talk may stand around any reply: it says nothing.
var talk = rapid.SampledFrom([]string{"", "Sure!\n\n", "Here it is.\n", "<think>Verdict: sufficient. Step 1? Yes. ```python\nwrong\n```</think>\n", "<think>\nhm\n</think>\n\n", "hm: No. Add Step\n</think>\n"})

// dressed puts a text into one of the given formats.
func dressed(t *rapid.T, text string, formats ...string) string {
	reply := talk.Draw(t, "talk") + fmt.Sprintf(rapid.SampledFrom(formats).Draw(t, "dress"), text)
	if rapid.Bool().Draw(t, "Windows") {
		reply = strings.ReplaceAll(reply, "\n", "\r\n")
	}
	return reply + rapid.SampledFrom([]string{"", "\n", " \n\n"}).Draw(t, "end")
}

// same requires that a reply is read as what was put into it.
func same[T comparable](t *rapid.T, reply string, want T, parse func(string) (T, error)) {
	t.Helper()
	if got, err := parse(reply); err != nil || got != want {
		t.Fatalf("%q is read as %v, %v; want %v", reply, got, err, want)
	}
}

func drawCode(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
		"import pandas as pd", "x = 1", "for i in range(3):\n    print(i)", "df = pd.read_csv('data/a b.csv', sep=';')", "# a comment: Step 2 is wrong",
		"def f(a, b=2):\n    \"\"\"It's <b>prose</b>.\"\"\"\n    return a if b else None", "s = '''\n  ~ text\n'''", "y = [\n    1,\n    2,\n]", "print(f'{x:.2f}', \"Verdict: sufficient\")", "x.loc[x['a'] > 1, 'b'] *= 2",
	}), 1, 8).Draw(t, "code"), rapid.SampledFrom([]string{"\n", "\n\n"}).Draw(t, "between"))
}

func TestDressedCode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		code := drawCode(t)
		if !isPython(code) && code != "" && !strings.HasPrefix(code, "#") {
			t.Fatalf("not seen as Python: %q", code)
		}
		same(t, dressed(t, code, "```python\n%s\n```", "```Python3\n\n%s\n\n```\n\nTell me if it fails.", "``` py title=\"x\"\n%s\n```", "```{python}\n# %%%%\n%[1]s\n```", "~~~\n%s\n~~~",
			"`````ipython\n%s\n`````", "```json\n{\"a\": 1}\n```\n```python\n%s\n```", "<code>\n%s\n</code>", "<pre><code>%s</code></pre>", "```python\nIn [12]: %s\n```"), code, Code.readText)
		same(t, "1. Here:\n\n   ```python\n   "+strings.ReplaceAll(code, "\n", "\n   ")+"\n   ```\n", code, func(reply string) (string, error) {
			if strings.Contains(code, "'''") {
				return code, nil // its string is indented with it
			}
			got, err := Code.readText(reply)
			return strings.ReplaceAll(got, "   \n", "\n"), err
		})
		if isPython(code) {
			same(t, code, code, Code.readText)
			same(t, "Here:\n```python\n"+code+"\n", code, Code.readText)
		}
		if got, err := Code.readText("```python\n" + code + "\n```\nor\n```python\n" + code + "\n```"); err == nil {
			t.Fatalf("two blocks are read as %q", got)
		}
	})
}

func drawVerdict(t *rapid.T) (v record.Verdict, word, label string) {
	v.Reason = rapid.SampledFrom([]string{"the mean is in the output of step 2", "no prices, only fees", "x"}).Draw(t, "reason")
	switch rapid.IntRange(0, 2).Draw(t, "verdict") {
	case 0:
		v.Sufficient = true
		return v, rapid.SampledFrom([]string{"sufficient", "Sufficient", "SUFFICIENT", "yes", "✅ sufficient"}).Draw(t, "word"), "Reason"
	case 1:
		return v, rapid.SampledFrom([]string{"insufficient", "Insufficient", "not sufficient", "not yet sufficient", "no", "❌ insufficient"}).Draw(t, "word"), "Missing"
	}
	v.Sufficient, v.Inconclusive = true, true
	return v, rapid.SampledFrom([]string{"inconclusive", "Inconclusive", "not applicable", "cannot be answered from the data"}).Draw(t, "word"), "Reason"
}

func TestDressedVerdict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, word, label := drawVerdict(t)
		reply := dressed(t, word, "Verdict: %s\n"+label+": "+v.Reason, "**Verdict:** %s\n\n**"+label+":** "+v.Reason, "## Final verdict: **%s**\n- "+label+" - "+v.Reason,
			"> Verdict: %s\n> "+label+": "+v.Reason, "| Verdict | "+label+" |\n|---|---|\n| %s | "+v.Reason+" |", "My verdict is %s.\n"+label+": "+v.Reason, "VERDICT:\n%s\n"+label+":\n"+v.Reason, "Verdict: %s — "+v.Reason)
		same(t, reply, v, Verdict.readText)
		same(t, fmt.Sprintf(`{"verdict": %q, %q: %q}`, word, strings.ToLower(label), v.Reason), v, Verdict.readText)
		if !v.Inconclusive {
			same(t, reply, v, YesNo.readText)
		} else if got, err := YesNo.readText(reply); err == nil {
			t.Fatalf("yes or no: %+v", got)
		}
		other, word2, label2 := drawVerdict(t)
		if other.Sufficient != v.Sufficient || other.Inconclusive != v.Inconclusive {
			form := rapid.SampledFrom([]string{"Verdict: %s\n%s: %s\nVerdict: %s\n%s: %s", "Verdict: %[1]s or %[4]s", "Verdict: %[1]s / %[4]s", "Verdict: %[1]s\n\nVerdict: **%[4]s**", "Verdict: %s\n%s: %s\n\nFinal verdict: %s\n%s: %s"}).Draw(t, "both")
			both := fmt.Sprintf(form+"%.0[1]s", word, label, v.Reason, word2, label2, other.Reason)
			both, _, _ = strings.Cut(both, "%!")
			if got, err := Verdict.readText(both); err == nil {
				t.Fatalf("%q is read as %+v", both, got)
			}
		}
	})
}

func TestDressedRoute(t *testing.T) {
	words := strings.Split(numeral, "|")
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.IntRange(1, 20).Draw(t, "steps")
		draw := func() (record.Route, string) {
			if n := rapid.IntRange(0, steps).Draw(t, "back"); n > 0 {
				return record.Route{Back: n}, rapid.SampledFrom([]string{"Step %d", "step %d", "STEP #%[1]d", "Step %[1]d is wrong", "**Step %[1]d**", "Fix step %[1]d", "Go back to Step %[1]d", "Step " + words[n-1]}).Draw(t, "words")
			}
			return record.Route{}, rapid.SampledFrom([]string{"Add Step", "add a new step", "ADD STEP", "add_step", "**Add Step**", fmt.Sprintf("Add Step %d", steps+1)}).Draw(t, "words")
		}
		parse := func(reply string) (record.Route, error) { return Route(steps).readText(reply) }
		put := func(r record.Route, words string) string {
			if strings.Contains(words, "%") {
				return fmt.Sprintf(words, r.Back)
			}
			return words
		}
		r, form := draw()
		choice := put(r, form)
		same(t, dressed(t, choice, "%s", "%s.", "`%s`", "My answer: %s", "I would choose: %s", "Option: %s", "## %s", "> %s", "- %s", "```\n%s\n```", "| Route | %s |", "All is as it is.\n\n%s"), r, parse)
		same(t, fmt.Sprintf(`{"route": %q}`, choice), r, parse)
		other, form2 := draw()
		if choice2 := put(other, form2); other != r {
			both := choice + rapid.SampledFrom([]string{"\n", " or ", ", ", " and "}).Draw(t, "between") + choice2
			if got, err := parse(both); err == nil {
				t.Fatalf("%q is read as %+v", both, got)
			}
		}
		far := steps + rapid.IntRange(1, 100).Draw(t, "far")
		if got, err := parse(fmt.Sprintf("Step %d", far)); err == nil || !strings.Contains(err.Error(), span(steps)) {
			t.Fatalf("step %d of %d is read as %+v, %v", far, steps, got, err)
		}
	})
}

func TestDressedStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		step := rapid.SampledFrom([]string{"Load `data/a.csv` and count its rows.", "Group by x, then sum 1.5 times y", "Keep what cannot be matched; say how many.", "Join a and b on \"id\" (an inner join)."}).Draw(t, "step")
		same(t, dressed(t, step, "%s", "Step 3: %s", "**Step 3:** %s", "Next step: %s", "### Step 3\n\n%s", "3. %s", "- %s", "> %s", "**%s**", "“%s”"), step, func(reply string) (string, error) {
			for _, words := range []string{"Sure!", "Here it is."} { // talk that is no intro of a step
				reply = strings.TrimPrefix(reply, words)
			}
			return Step.readText(reply)
		})
		same(t, fmt.Sprintf(`{"step": %q}`, step), step, Step.readText)
		if got, err := Step.readText("1. " + step + "\n2. " + step); err == nil {
			t.Fatalf("two steps are read as %q", got)
		}
	})
}
