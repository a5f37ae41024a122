package brief_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"dsstar/agent/brief"
	"dsstar/notebook"
)

var cutMark = regexp.MustCompile(`\n\[… (\d+) characters cut here …\]\n`)

func TestClip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, n := rapid.StringN(0, 60, -1).Draw(t, "text"), rapid.IntRange(-1, 80).Draw(t, "n")
		got := brief.Clip(text, n)
		if n <= 0 || len(text) <= n {
			if got != text {
				t.Fatalf("a short text became %q", got)
			}
			return
		}
		at := cutMark.FindStringSubmatchIndex(got)
		if at == nil {
			t.Fatalf("%q does not say that it was cut", got)
		}
		head, tail := got[:at[0]], got[at[1]:]
		cut, _ := strconv.Atoi(got[at[2]:at[3]])
		if len(head)+len(tail) > n || !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) ||
			len(head)+cut+len(tail) != len(text) || !utf8.ValidString(got) {
			t.Fatalf("%q at %d is %q", text, n, got)
		}
	})
}

// No line is cut to save less than what says that something was cut.
func TestLinesCutsWhatCounts(t *testing.T) {
	text := strings.Repeat("one, two\n", 20)
	for _, less := range []int{1, 12, 25, 60, 100} {
		got := brief.Lines(text, len(text)-less)
		if got != text && (len(got) >= len(text) || !strings.Contains(got, "cut here")) {
			t.Errorf("%d less: %q", less, got)
		}
	}
}

func TestShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lengths := rapid.SliceOfN(rapid.IntRange(0, 1000), 0, 12).Draw(t, "lengths")
		budget, most := rapid.IntRange(0, 5000).Draw(t, "budget"), rapid.IntRange(1, 1000).Draw(t, "most")
		got := brief.Shares(lengths, budget, most)
		used, longest := 0, 0
		for i, n := range lengths {
			used += min(n, got[i])
			if got[i] < 1 || min(n, got[i]) > most {
				t.Fatalf("share %d of %d", got[i], n)
			}
			if n <= got[i] {
				longest = max(longest, n)
			}
		}
		if used > budget+len(lengths) { // each has one at least: 0 is no limit for clip
			t.Fatalf("%d of %d are used: %v", used, budget, got)
		}
		for i, n := range lengths {
			switch whole := n <= got[i]; {
			case !whole && n < longest:
				t.Fatalf("%d is cut and %d is not: %v", n, longest, got)
			case !whole && got[i] < most && used < budget-len(lengths):
				t.Fatalf("%d is cut although %d of %d are used: %v", n, used, budget, got)
			}
		}
	})
}

func TestErrorReport(t *testing.T) {
	failed := func(traceback ...string) notebook.Execution {
		return notebook.Execution{Status: notebook.Raised, Outputs: []notebook.Output{
			{Type: notebook.ErrorOutput, EName: "KeyError", EValue: "'b'", Traceback: traceback},
		}}
	}
	printed := failed("KeyError: 'b'")
	out := notebook.Output{Type: notebook.Stream, Name: "stdout", Text: "so far\n"}
	printed.Outputs = append([]notebook.Output{out}, printed.Outputs...)
	for _, c := range []struct {
		name string
		e    notebook.Execution
		want string
	}{
		{"through pandas", failed(
			"\x1b[31m"+strings.Repeat("-", 75)+"\x1b[39m",
			"\x1b[31mKeyError\x1b[39m             Traceback (most recent call last)",
			"\x1b[36mFile \x1b[39m\x1b[32m/home/u/lib/python3.12/site-packages/pandas/core/base.py:3812"+
				"\x1b[39m, in \x1b[36mIndex.get_loc\x1b[39m\x1b[34m(self, key)\x1b[39m\n"+
				"\x1b[32m   3811\x1b[39m try:\n\x1b[32m-> 3812\x1b[39m     return 1\n",
			"\x1b[36mFile \x1b[39m\x1b[32mpandas/_libs/index.pyx:167\x1b[39m, in \x1b[36mpandas._libs."+
				"IndexEngine.get_loc\x1b[39m\x1b[34m()\x1b[39m\n",
			"\x1b[31mKeyError\x1b[39m: 'b'",
			"\nThe above exception was the direct cause of the following exception:\n",
			"\x1b[36mCell\x1b[39m\x1b[36m \x1b[39m\x1b[32mIn[5]\x1b[39m\x1b[32m, line 2\x1b[39m\n"+
				"\x1b[32m      1\x1b[39m x = 1\n\x1b[32m----> 2\x1b[39m df[\"b\"]\n",
			"\x1b[31mKeyError\x1b[39m: 'b'",
		), `KeyError             Traceback (most recent call last)
File pandas/core/base.py, in Index.get_loc(self, key)
File index.pyx, in pandas._libs.IndexEngine.get_loc()
KeyError: 'b'

The above exception was the direct cause of the following exception:
Cell, line 2
      1 x = 1
----> 2 df["b"]
KeyError: 'b'
`},
		{"no traceback", failed(), "KeyError: 'b'\n"},
		{"death", notebook.Execution{Status: notebook.Died, Reason: "it died"}, "it died\n"},
		{"what was printed", printed, "KeyError: 'b'\n\nPrinted before the error:\nso far\n"},
	} {
		if got := brief.ErrorReport(c.e, 1000); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func TestOneLine(t *testing.T) {
	raised := func(value string) []notebook.Output {
		return []notebook.Output{{Type: notebook.ErrorOutput, EName: "E", EValue: value}}
	}
	for want, e := range map[string]notebook.Execution{
		"E: a b":  {Status: notebook.Raised, Outputs: raised("a\n\tb")},
		"E":       {Status: notebook.Raised, Outputs: raised("")},
		"it died": {Status: notebook.Died, Reason: "it died", Outputs: raised("x")},
		"timeout": {Status: notebook.TimedOut},
	} {
		if got := brief.Problem(e); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestPyString(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		got := brief.Python(s)
		back, err := strconv.Unquote(got)
		if err != nil || back != s || strings.ContainsAny(got, "\n\r") {
			t.Fatalf("%q became %s: %v", s, got, err)
		}
	})
	if got := brief.Python("a'b \"c\" <d>\\\n"); got != `"a'b \"c\" <d>\\\n"` {
		t.Error(got)
	}
}
