package ask

import (
	"slices"
	"strings"
	"testing"

	"dsstar/agent/llm"
)

func readText[T any](f Format[T], reply string) (T, error) { return f.Read(llm.Reply{Text: reply}) }

// FuzzReplies: whatever a model says, what is read of it is whole, within what was asked, and in words of
// the reply.
func FuzzReplies(f *testing.F) {
	f.Add("\xff")
	for _, g := range corpus(f) {
		for _, reply := range g.Replies {
			f.Add(reply)
		}
	}
	f.Fuzz(func(t *testing.T, reply string) {
		check := func(ok bool, what string, got any) {
			if !ok {
				t.Errorf("%s: %+v", what, got)
			}
		}
		lower, lines := strings.ToLower(reply), strings.Contains(reply, "\r")
		code, err := readText(Code, reply)
		first, _, _ := strings.Cut(strings.TrimSpace(code), "\n")
		check((err == nil) == (first != "") && (lines || strings.Contains(reply, first)), "code", code)
		v, _ := readText(verdict, reply)
		check(!v.Inconclusive || v.Sufficient && v.Reason != "", "verdict", v)
		check(!v.Sufficient || v.Inconclusive || lines || strings.Contains(lower, "sufficient") || strings.Contains(lower, "yes"), "verdict", v)
		route, err := readText(Route(3), reply)
		check(route.Back >= 0 && route.Back <= 3 && (err == nil || route.Back == 0) &&
			(err != nil || route.Back > 0 || lines || strings.Contains(lower, "add")), "route", route)
		step, err := readText(Step, reply)
		check((err == nil) == (step != "") && !strings.ContainsAny(step, "\n") && len(step) <= 2000, "step", step)
		s, err := readText(Solutions(true), reply)
		check((err == nil) == (s.Step != "" && s.Code != ""), "solution", s)
		for _, r := range s.Readings {
			read := len(r.Options) > 1 && r.Chosen >= 0 && r.Chosen < len(r.Options) && r.Point != ""
			check(read == (r.Problem == "") && (!r.Settled || r.Evidence != ""), "reading", r)
		}
		j, _ := readText(Judgements(3, 2, asked, false, 0), reply)
		check(j.Wrong >= 0 && j.Wrong <= 3 && j.Sufficient == (j.Code != "") && !(j.Sufficient && j.Wrong > 0), "judgement", j)
		all, err := readText(Branches(asked, 3), reply)
		check((err == nil) == (len(all) > 0), "branches", all)
		for _, b := range append(all, j.Branches...) {
			check(slices.Contains(asked, Branch{Point: b.Point, Option: b.Option}) && b.Steps >= 0 && b.Steps <= 3 && b.Code != "", "branch", b)
		}
		r, err := readText(Rulings(3), reply)
		check((err == nil) == (r.Ruling != "") && (r.Ruling != "second" || r.Reason != "") && r.Wrong >= 0 && r.Wrong <= 3 &&
			(r.Ruling != "reading" || len(r.Options) == 2 && r.Point != ""), "ruling", r)
	})
}
