//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"dsstar/agent/llm/llmtest"
	"dsstar/kernel/pyenv/pyenvtest"
)

// families are five kinds of files in nested folders, and the script that a
// model would write for each.
var families = []struct {
	folder, ext, script string
	content             func(n int) string
}{
	{"sales", "csv", "import pandas as pd\ndf = pd.read_csv(path, parse_dates=['date'])\nprint(len(df), 'rows')\nprint(df.dtypes)\nprint(df.describe())\nprint(df.head(3))",
		func(n int) string {
			return rows("date,store,item,quantity,price", 200, func(i int) string {
				return fmt.Sprintf("2025-%02d-%02d,%d,item %d,%d,%.2f", n%12+1, i%28+1, n, i%17, i%9, float64(i*n%1000)/7)
			})
		}},
	{"sensors", "json", "import json\ndata = json.load(open(path))\nvalues = [r['value'] for r in data['readings']]\nprint(list(data), data['sensor'], len(values), min(values), max(values))\nprint(data['readings'][:3])",
		func(n int) string {
			return fmt.Sprintf(`{"sensor": "s%d", "unit": "K", "readings": [%s]}`, n, rows(fmt.Sprintf(`{"at": 0, "value": %d}`, n), 150, func(i int) string {
				return fmt.Sprintf(`, {"at": %d, "value": %d}`, i, i*n%313)
			}))
		}},
	{"events", "jsonl", "import pandas as pd\ndf = pd.read_json(path, lines=True)\nprint(df.shape, list(df.columns))\nprint(df['kind'].value_counts())",
		func(n int) string {
			return rows(`{"id": 0, "kind": "start", "user": 1}`, 200, func(i int) string {
				return fmt.Sprintf(`{"id": %d, "kind": "k%d", "user": %d}`, i, i%5, n*i%97)
			})
		}},
	{"survey", "csv", "import pandas as pd\ndf = pd.read_csv(path, sep=';', decimal=',')\nprint(df.shape)\nfor c in df:\n    print(c, df[c].dtype, df[c].nunique())\nprint(df.head(2))",
		func(n int) string {
			return rows("person;age;weight;answer", 120, func(i int) string { return fmt.Sprintf("%d;%d;%d,5;yes", i, 18+i%60, 50+n%40) })
		}},
	{"notes", "tsv", "import csv\nrows = list(csv.reader(open(path), delimiter='\\t'))\nprint(rows[0], len(rows) - 1)\nprint(rows[1:4])",
		func(n int) string {
			return rows("key\ttext\tlanguage", 100, func(i int) string { return fmt.Sprintf("%d\tnote %d of %d\ten", i, i, n) })
		}},
}

func rows(first string, n int, row func(int) string) string {
	var b strings.Builder
	b.WriteString(first + "\n")
	for i := range n {
		b.WriteString(row(i+1) + "\n")
	}
	return b.String()
}

// familyFiles writes 1,500 files of five families, and returns the script of each
// by its name.
func familyFiles(t testing.TB, dir string) map[string]string {
	scripts := map[string]string{}
	for _, f := range families {
		for n := range 300 {
			name := fmt.Sprintf("%s/%02d/%d.%s", f.folder, n%20, n, f.ext)
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(f.content(n+1)), 0o644); err != nil {
				t.Fatal(err)
			}
			scripts[name] = f.script
		}
	}
	return scripts
}

// familyModel answers an analyzer with the script of the file's family.
func familyModel(t testing.TB) *llmtest.Server {
	return llmtest.New(t, func(r llmtest.Request) llmtest.Response {
		for _, f := range families {
			if strings.Contains(r.Last(), `# The file`+"\n\n"+`"data/`+f.folder+"/") {
				return llmtest.Response{Text: cell(f.script)}
			}
		}
		t.Errorf("an unexpected request:\n%s", r.Last())
		return llmtest.Refuse(400, "", "unexpected")
	})
}

// scriptsAlone runs the scripts of half of the files each in two processes of
// plain Python, and nothing else: the least that describing them can take.
const scriptsAlone = `
import contextlib, io, json, os, sys
os.chdir(sys.argv[1])
for path, code in json.load(sys.stdin).items():
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(code, path, "exec"), {"path": path, "__name__": "__main__"})
    assert out.getvalue()
`

func runAlone(b *testing.B, data string, scripts map[string]string) time.Duration {
	halves := [2]map[string]string{{}, {}}
	n := 0
	for name, code := range scripts {
		halves[n%2][name] = code
		n++
	}
	start := time.Now()
	var wait sync.WaitGroup
	for _, half := range halves {
		input, err := json.Marshal(half)
		if err != nil {
			b.Fatal(err)
		}
		wait.Go(func() {
			cmd := exec.Command(pyenvtest.Python(b), "-c", scriptsAlone, data)
			cmd.Stdin = bytes.NewReader(input)
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Errorf("%v\n%s", err, out)
			}
		})
	}
	wait.Wait()
	return time.Since(start)
}

// describeProcess runs dsstar describe as a process of its own.
func describeProcess(b *testing.B, data, url, cache string) (wall time.Duration, peakMB float64) {
	cmd := exec.Command(os.Args[0], "describe", data, "--base-url", url, "--model", "scripted", "--jobs", "2", "--quiet", "--python", pyenvtest.Python(b))
	cmd.Env = append(cleanEnv(), asProgram+"=1", "XDG_CACHE_HOME="+cache)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				b.Fatalf("%v\n%s", err, stderr.String())
			}
			if got := strings.Count(stdout.String(), ".csv"); got < 600 {
				b.Errorf("only %d csv files are told of", got)
			}
			return time.Since(start), peakMB
		case <-time.After(20 * time.Millisecond):
			peakMB = max(peakMB, highWater(cmd.Process.Pid))
		}
	}
}

// highWater is the most memory that a process has had, in MB. What its end
// reports would be that of this one, which it was forked from.
func highWater(pid int) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kB, err := strconv.Atoi(strings.Fields(rest + " 0")[0])
	if err != nil {
		return 0
	}
	return float64(kB) / 1024
}

// BenchmarkDescribe1500 describes 1,500 files of five families and compares with
// the scripts alone; again reports how many calls a second run makes.
func BenchmarkDescribe1500(b *testing.B) {
	data := b.TempDir()
	scripts := familyFiles(b, data)
	for range b.N {
		model, cache := familyModel(b), b.TempDir()
		alone := runAlone(b, data, scripts)
		ours, peak := describeProcess(b, data, model.URL, cache)
		calls := len(model.Requests())
		second, _ := describeProcess(b, data, model.URL, cache)
		b.ReportMetric(float64(calls), "calls")
		b.ReportMetric(float64(len(model.Requests())-calls), "calls-again")
		b.ReportMetric(alone.Seconds(), "s-alone")
		b.ReportMetric(ours.Seconds(), "s-dsstar")
		b.ReportMetric(second.Seconds(), "s-again")
		b.ReportMetric(ours.Seconds()/alone.Seconds(), "x-alone")
		b.ReportMetric(peak, "MB")
	}
}
