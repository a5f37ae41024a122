package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"dsstar/agent/llm"
	"dsstar/agent/llm/llmtest"
	"dsstar/kernel/pyenv/pyenvtest"
)

// able replies to the requests of a trial as a model that can all, by a word of the question or the cells.
var able = map[string]map[string]string{
	"solver": {
		"shipped orders": "Step: Add up.\n\n" + cell("import pandas as pd\no = pd.read_csv('data/orders.csv')\n"+
			"total = o[(o.store == 'Lyon') & (o.status == 'shipped')].amount.sum()\nprint('total', total)"),
		"teas": "Reading: which price is meant\nOption 1: the net price\nOption 2: the gross price\nTaken: 1\nEvidence: none\n" +
			"Settled: no\n\nStep: Average.\n\n" + cell("import pandas as pd\np = pd.read_csv('data/products.csv')\n"+
			"mean = p[p.kind == 'tea'].price_net.mean()\nprint(mean)"),
	},
	"judge": {"of_lyon": wrong(1), "shipped orders of Lyon": sufficient + "\n\n" + cell("print(total)")},
	"debugger": {"takings": cell("import pandas as pd\ntotal = pd.read_csv('data/takings.csv', thousands=',').takings.sum()\n" +
		"print('total takings:', total)")},
	"second": {
		"visits": cell("import pandas as pd\nv = pd.read_csv('data/visits.csv')\nv = v[(v.site == 'North') & (v.minutes >= 5)]\n" +
			"answer = str(len(v))\nanswer"),
		"sensors": cell("import csv\nv = [float(r['value']) for r in csv.DictReader(open('data/sensors.csv'))\n" +
			"     if r['sensor'] == 'S2' and r['mark'] != 'K']\nanswer = f'{sum(v) / len(v):.1f}'\nanswer"),
	},
}

// TestTrial: what doctor --trial finds of models that can all, only write, keep no form, or are slow, and
// of a server that cuts requests.
func TestTrial(t *testing.T) {
	good := func(r llmtest.Request) llmtest.Response {
		role := roleOf(r)
		for word, reply := range able[role] {
			if strings.Contains(r.Messages[len(r.Messages)-1].Text, word) && (role != "judge" || word == "of_lyon" ||
				!strings.Contains(r.Last(), "of_lyon")) {
				return llmtest.Response{Text: reply}
			}
		}
		return llmtest.Response{Text: "yes"}
	}
	content := func(role string) func(llmtest.Request) llmtest.Response {
		return func(r llmtest.Request) llmtest.Response {
			if roleOf(r) == role {
				return llmtest.Response{Text: sufficient + "\n\n" + cell("print(total)")}
			}
			return good(r)
		}
	}
	for _, c := range []struct {
		name  string
		reply func(llmtest.Request) llmtest.Response
		time  string
		code  int
		fit   string
		yes   string // y, n or - for each ability, as a pattern
		says  string // somewhere
	}{
		{"able", good, "3m", exitVerified, "alone", "yyyyyyy", "734.5"},
		{"content", content("judge"), "3m", exitVerified, "judged", "yynyyyy", "it found a wrong step right"},
		{"formless", func(llmtest.Request) llmtest.Response { return llmtest.Response{Text: "I am happy to help."} },
			"3m", exitError, "no", "nnnnnnn", "could not be used"},
		{"slow", func(r llmtest.Request) llmtest.Response {
			return llmtest.Response{Text: "yes", Stall: roleOf(r) != "other"}
		}, "6s", exitError, "no", "n[n-]{5}n", "not done within 2s"},
		{"cutting", func(r llmtest.Request) llmtest.Response {
			return llmtest.Response{Text: "yes", Usage: llm.Usage{InputTokens: 256, OutputTokens: 1}}
		}, "3m", exitError, "no", "nnnnnnn", "no more than 256 tokens"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a, stdout, stderr := testApp(t, "DSSTAR_MAX_TIME="+c.time)
			code := a.run(t.Context(), []string{"doctor", "--trial", "m", "--base-url", llmtest.New(t, c.reply).URL,
				"--python", pyenvtest.Python(t), "--json"})
			var got trial
			noError(t, json.Unmarshal(stdout.Bytes(), &got))
			yes := ""
			for _, did := range got.Abilities {
				yes += map[string]string{"yes": "y", "no": "n", "untried": "-"}[did.Verdict]
			}
			if code != c.code || got.Fit != c.fit || !regexp.MustCompile(c.yes).MatchString(yes) || !strings.Contains(stdout.String(), c.says) {
				t.Errorf("exit code %d, %s, %s\n%s%s", code, got.Fit, yes, stdout, stderr)
			}
		})
	}
	for _, c := range []struct {
		url  string
		code int
		hint string
	}{
		{"http://127.0.0.1:1/v1", exitError, "its server running?"},
		{llmtest.New(t, llmtest.Each(llmtest.Refuse(401, "", "who?"))).URL, exitCredentials, "--api-key-env"},
		{llmtest.New(t, llmtest.Each(llmtest.Response{Text: "yes"}, llmtest.Refuse(404, "", "no such model"))).URL,
			exitError, "dsstar config"},
	} {
		a, stdout, stderr := testApp(t)
		code := a.run(t.Context(), []string{"doctor", "--trial", "m", "--base-url", c.url, "--python", pyenvtest.Python(t)})
		if code != c.code || !strings.Contains(stderr.String(), c.hint) || stdout.Len() > 0 {
			t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
		}
	}
}
