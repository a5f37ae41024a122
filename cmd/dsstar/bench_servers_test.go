//go:build linux || darwin

package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"dsstar/agent/bench/runner"
	"dsstar/agent/llm/llmtest"
	"dsstar/cmd/dsstar/internal/kernels/kernelstest"
	"dsstar/kernel/kerneltest"
	"dsstar/kernel/pyenv/pyenvtest"
)

var (
	benchTasks = flag.Int("bench-tasks", 16, "how many tasks TestBenchServers runs")
	benchDelay = flag.Duration("bench-delay", 4*time.Second, "how long the model of TestBenchServers takes for a reply")
)

// TestBenchServers runs tasks on one real Jupyter server and on two, four at once on each,
// with a model that takes its time; then on two, one of which is killed half-way. No task
// is lost, and each has one result. The log has the times and the memory in use:
//
//	DSSTAR_LONG=1 go test ./cmd/dsstar -run TestBenchServers -bench-tasks 1000 -timeout 4h -v
func TestBenchServers(t *testing.T) {
	pyenvtest.Long(t)
	const each = 4
	var asked atomic.Int64
	model := llmtest.New(t, func(r llmtest.Request) llmtest.Response {
		asked.Add(1)
		response := adds(r)
		response.Delay = *benchDelay
		return response
	})
	model.KeepNone() // they would be what grows
	var servers []*kerneltest.Server
	var urls []string
	for range 2 {
		s := kerneltest.JupyterServer(t, pyenvtest.Tools(t), nil)
		servers, urls = append(servers, s), append(urls, s.URL+"/?token="+s.Token)
	}
	tasks, dir := trialTasks(t, *benchTasks, false), t.TempDir()
	run := func(name string, during func(out string), urls ...string) (took time.Duration, lost []string) {
		out := filepath.Join(dir, name)
		args := []string{"bench", "run", "--bench", "dir", "--tasks", tasks, "--agent", "react", "--yes", "--base-url", model.URL, "--model", "scripted",
			"--jobs", fmt.Sprint(each * len(urls)), "--out", out}
		for _, url := range urls {
			args = append(args, "--server", url)
		}
		a, stdout, stderr := testApp(t, kernelstest.Env(t, t.TempDir())...)
		asked.Store(0)
		done, over := make(chan struct{}), make(chan struct{})
		go func() { defer close(over); watchBench(t, name, out, done, during) }()
		begun := time.Now()
		code := a.run(t.Context(), args)
		took = time.Since(begun)
		close(done)
		<-over
		if code != exitVerified {
			t.Fatalf("%s: exit code %d\n%s", name, code, stderr)
		}
		lines := strings.Count(timeless(t, out), "\n") + 1
		result, err := runner.Read(out)
		if err != nil || len(result.Missing()) > 0 || lines != *benchTasks {
			t.Errorf("%s: %v, %d missing, %d results of %d tasks", name, err, len(result.Missing()), lines, *benchTasks)
		}
		for _, r := range result.Records {
			if r.Cause == runner.ModelError || r.Cause == runner.KernelError || r.Answer == "" {
				t.Errorf("%s: %s: %s %s", name, r.Task, r.Cause, r.Error)
			}
		}
		lost = lostLines(stderr.String())
		t.Logf("%s: %d tasks in %.1f s, %d model calls; %s%s", name, lines, took.Seconds(), asked.Load(), stdout, strings.Join(lost, "\n"))
		return took, lost
	}
	one, _ := run("one server", func(string) {}, urls[0])
	two, _ := run("two servers", func(string) {}, urls...)
	t.Logf("ratio %.2f", two.Seconds()/one.Seconds())
	_, lost := run("two servers, one killed", func(string) { _ = syscall.Kill(-servers[1].PID, syscall.SIGKILL) }, urls...)
	if !slices.ContainsFunc(lost, func(line string) bool { return strings.HasPrefix(line, "lost") }) {
		t.Errorf("nothing tells of the server that was killed: %q", lost)
	}
}

// watchBench logs the memory in use at marks of a run, and calls half when half of the
// run is done.
func watchBench(t *testing.T, name, out string, done <-chan struct{}, half func(string)) {
	next, halved := 10, false
	for {
		select {
		case <-done:
			return
		case <-time.After(100 * time.Millisecond):
		}
		data, err := os.ReadFile(filepath.Join(out, "results.jsonl"))
		if err != nil {
			continue
		}
		percent := 100 * strings.Count(string(data), "\n") / *benchTasks
		if percent >= next {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			t.Logf("%s: %d %% done, %.1f MB of memory in use, %d goroutines", name, percent, float64(m.HeapAlloc)/1e6, runtime.NumGoroutine())
			next += 20
		}
		if percent >= 50 && !halved {
			halved = true
			half(out)
		}
	}
}

// lostLines are the lines about servers and about tasks that were given back.
func lostLines(stderr string) []string {
	var lines []string
	for line := range strings.Lines(stderr) {
		if strings.HasPrefix(line, "lost") || strings.HasPrefix(line, "back") || strings.HasPrefix(line, "again") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}
