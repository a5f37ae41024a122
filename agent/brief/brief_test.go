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

var cutMark = regexp.MustCompile(`\n?\[… (\d+) characters cut here …\]\n?`)

// TestClip: what is cut is told, is more than what tells it takes, and leaves numbers whole.
func TestClip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("1é… \n")), 0, 120, -1).Draw(t, "text")
		n := rapid.IntRange(-1, 160).Draw(t, "n")
		got := brief.Clip(text, n)
		at := cutMark.FindStringSubmatchIndex(got)
		if n <= 0 || len(text) <= n || at == nil {
			if got != text || n > 0 && len(text) > n+35 {
				t.Fatalf("%q at %d is %q", text, n, got)
			}
			return
		}
		head, tail := got[:at[0]], got[at[1]:]
		cut, _ := strconv.Atoi(got[at[2]:at[3]])
		whole := strings.Trim(text, "\n")
		if len(head)+len(tail) > n || len(got) > len(text)+6 || !strings.HasPrefix(whole, head) ||
			!strings.HasSuffix(whole, tail) || len(head)+cut+len(tail) > len(text) || !utf8.ValidString(got) {
			t.Fatalf("%q at %d is %q", text, n, got)
		}
	})
	text := strings.Repeat("123\n", 40)
	for n := range 120 {
		for line := range strings.Lines(brief.Clip(text, n) + "\n") {
			if line != "123\n" && n > 24 && !strings.Contains(line, "cut here") && line != "\n" {
				t.Errorf("%d: %q", n, line)
			}
		}
	}
}

func TestShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lengths := rapid.SliceOfN(rapid.IntRange(0, 1000), 0, 12).Draw(t, "lengths")
		budget, most := rapid.IntRange(0, 5000).Draw(t, "budget"), rapid.IntRange(1, 1000).Draw(t, "most")
		got := brief.Shares(lengths, budget, most)
		used, longest := 0, 0 // of those that are whole
		for i, n := range lengths {
			if used += min(n, got[i]); n <= got[i] {
				longest = max(longest, n)
			}
		}
		for i, n := range lengths {
			cut := n > got[i]
			if got[i] < 1 || min(n, got[i]) > most || cut && n < longest ||
				cut && got[i] < most && used < budget-len(lengths) {
				t.Fatalf("share %d of %d, %d of %d are used: %v", got[i], n, used, budget, got)
			}
		}
		if used > budget+len(lengths) { // each has one at least: 0 is no limit for clip
			t.Fatalf("%d of %d are used: %v", used, budget, got)
		}
	})
}

// raised is an execution that has raised an error, after it printed something.
func raised(value, printed string, traceback ...string) notebook.Execution {
	return notebook.Execution{Status: notebook.Raised, Outputs: []notebook.Output{
		{Type: notebook.Stream, Name: "stdout", Text: printed},
		{Type: notebook.ErrorOutput, EName: "KeyError", EValue: value, Traceback: traceback},
	}}
}

func TestFailures(t *testing.T) {
	for want, c := range map[[2]string]notebook.Execution{
		{"KeyError: 'b'", "KeyError             Traceback (most recent call last)\n" +
			"File pandas/core/base.py, in Index.get_loc(self, key)\n" +
			"File index.pyx, in pandas._libs.IndexEngine.get_loc()\nKeyError: 'b'\n" +
			"Cell, line 2\n      1 x = 1\n----> 2 df[\"b\"]\n"}: raised("'b'", "",
			"\x1b[31m"+strings.Repeat("-", 75)+"\x1b[39m",
			"\x1b[31mKeyError\x1b[39m             Traceback (most recent call last)",
			"\x1b[36mFile \x1b[39m\x1b[32m/home/u/lib/site-packages/pandas/core/base.py:38\x1b[39m, "+
				"in \x1b[36mIndex.get_loc\x1b[39m(self, key)\n\x1b[32m-> 38\x1b[39m     return 1\n",
			"\x1b[36mFile \x1b[39mpandas/_libs/index.pyx:167, in pandas._libs.IndexEngine.get_loc()\n",
			"\x1b[31mKeyError\x1b[39m: 'b'",
			"\x1b[36mCell\x1b[39m In[5]\x1b[32m, line 2\x1b[39m\n\x1b[32m      1\x1b[39m x = 1\n"+
				"\x1b[32m----> 2\x1b[39m df[\"b\"]\n"),
		{"KeyError: 'a b'", "KeyError: 'a\n b'\n"}:                        raised("'a\n b'", ""),
		{"KeyError", "KeyError: \n\nPrinted before the error:\nso far\n"}: raised("", "so far\n"),
		{"it died", "it died\n"}:                                          {Status: notebook.Died, Reason: "it died"},
		{"UsageError: no magic", "UsageError: no magic\n"}: {Status: notebook.Raised, Outputs: []notebook.Output{
			{Type: notebook.Stream, Name: "stderr", Text: "before\nUsageError: no  magic\n"}}},
		{"timeout", "timeout\n"}: {Status: notebook.TimedOut},
	} {
		if got := [2]string{brief.Problem(c), brief.ErrorReport(c, 1000)}; got != want {
			t.Errorf("got\n%q\nwant\n%q", got, want)
		}
	}
}

func TestPython(t *testing.T) {
	if got := brief.Python("a'b \"c\" <d>\\\n" + "é\u0085"); got != `"a'b \"c\" <d>\\\né\u0085"` {
		t.Error(got)
	}
}
