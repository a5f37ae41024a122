package ask

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"dsstar/agent/llm"
	"dsstar/agent/record"
)

// seed gives a fuzz test the replies of the corpus to begin with.
func seed(f *testing.F) {
	f.Add("\xff")
	for _, g := range corpus(f) {
		for _, reply := range g.Replies {
			f.Add(reply)
		}
	}
}

func readText[T any](f Format[T], reply string) (T, error) { return f.Read(llm.Reply{Text: reply}) }

// FuzzCode: whatever a model says, what is read as code stands in the reply, and is read again.
func FuzzCode(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, reply string) {
		code, err := readText(Code, reply)
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
		dressed, err := readText(Code, "Sure:\n````````python\n"+code+"\n````````")
		if err != nil || dressed != code {
			t.Errorf("code %q read again is %q, %v", code, dressed, err)
		}
	})
}

// FuzzVerdict: a verdict that suffices has words for it in the reply, one that is inconclusive a
// reason.
func FuzzVerdict(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, reply string) {
		if !utf8.ValidString(reply) {
			return
		}
		lower := strings.ToLower(reply)
		isJSON := strings.Contains(reply, `\`)
		v, err := readText(verdict, reply)
		switch {
		case err != nil && v != (record.Verdict{}), !utf8.ValidString(v.Reason),
			v.Inconclusive && (!v.Sufficient || v.Reason == ""):
			t.Errorf("verdict %+v, %v", v, err)
		case v.Sufficient && !v.Inconclusive && !isJSON && !strings.Contains(lower, "sufficient") &&
			!strings.Contains(lower, "yes"):
			t.Errorf("verdict %+v", v)
		}
		if yes, err := readText(YesNo, reply); yes.Inconclusive || err == nil && yes != v {
			t.Errorf("yes or no %+v, %v; verdict %+v", yes, err, v)
		}
	})
}

// FuzzRoute: a route is within the plan, and its words are in the reply.
func FuzzRoute(f *testing.F) {
	seed(f)
	const steps = 3
	f.Fuzz(func(t *testing.T, reply string) {
		r, err := readText(Route(steps), reply)
		if r.Back < 0 || r.Back > steps || err != nil && r != (record.Route{}) || r.Reason != "" {
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
		step, err := readText(Step, reply)
		if (err == nil) != (step != "") || strings.Contains(step, "\n") ||
			strings.Contains(step, "```") || len(step) > 2000 {
			t.Errorf("step %q, %v", step, err)
		}
		if text, err := readText(anyText, reply); (err == nil) != (strings.TrimSpace(text) != "") {
			t.Errorf("text %q, %v", text, err)
		}
	})
}

// FuzzSolution: what a reply in one of the new forms says is whole, and within what was asked.
func FuzzSolution(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, reply string) {
		s, err := readText(Solutions(true), reply)
		whole := err == nil || isPart(err)
		if whole != (s.Step != "" && s.Code != "") || !whole && len(s.Readings) > 0 {
			t.Errorf("%+v, %v", s, err)
		}
		for _, r := range s.Readings {
			read := len(r.Options) > 1 && r.Chosen >= 0 && r.Chosen < len(r.Options) && r.Point != ""
			if read == (r.Problem != "") || r.Settled && r.Evidence == "" {
				t.Errorf("%+v", r)
			}
		}
		j, err := readText(Judgements(3, 0, nil, false), reply)
		if err != nil && !reflect.DeepEqual(j, Judgement{}) || j.Wrong < 0 || j.Wrong > 3 ||
			j.Sufficient != (j.Code != "") || j.Sufficient && j.Wrong > 0 {
			t.Errorf("%+v, %v", j, err)
		}
		all, err := readText(Branches(asked, 3), reply)
		if (err == nil) != (len(all) > 0) || len(all) > 2 {
			t.Errorf("%+v, %v", all, err)
		}
		for _, b := range all {
			if !slices.Contains(asked, Branch{Point: b.Point, Option: b.Option}) || b.Steps < 0 ||
				b.Steps > 3 || b.Code == "" {
				t.Errorf("%+v", b)
			}
		}
		r, err := readText(Rulings(3), reply)
		if (err == nil) != (r.Ruling != "") || r.Ruling == "second" && r.Reason == "" ||
			(r.Ruling == "reading") != (len(r.Options) == 2 && r.Point != "") ||
			r.Wrong < 0 || r.Wrong > 3 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}
