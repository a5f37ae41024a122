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
	"dsstar/kernel/kerneltest"
	"dsstar/kernel/pyenv/pyenvtest"
)

var (
	benchTasks = flag.Int("bench-tasks", 0, "how many tasks TestBenchServers runs; 0: it is left out")
	benchDelay = flag.Duration("bench-delay", 4*time.Second, "how long the model of TestBenchServers takes for a reply")
)

// TestBenchServers runs tasks on one real Jupyter server and on two, four at once
// on each, with a model that takes its time, as models do; then again on two, of
// which one is killed half-way. No task is lost, none is run twice to its end, memory
// does not grow with the tasks, and with enough of them two servers take at most 0.6 of
// the time of one.
//
//	go test ./cmd/dsstar -run TestBenchServers -bench-tasks 1000 -timeout 4h -v
func TestBenchServers(t *testing.T) {
	if *benchTasks == 0 {
		t.Skip("-bench-tasks is 0")
	}
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
		a, stdout, stderr := testApp(t, jupyterEnv(t, t.TempDir())...)
		asked.Store(0)
		done, over := make(chan struct{}), make(chan struct{})
		var memory []uint64
		go func() { defer close(over); memory = watchBench(t, name, out, done, during) }()
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
		if n := len(memory); n > 0 && memory[n-1] > memory[0]+2e6 {
			t.Errorf("%s: memory has grown from %.1f to %.1f MB", name, float64(memory[0])/1e6, float64(memory[n-1])/1e6)
		}
		lost = lostLines(stderr.String())
		t.Logf("%s: %d tasks in %.1f s, %d model calls; %s%s", name, lines, took.Seconds(), asked.Load(), stdout, strings.Join(lost, "\n"))
		return took, lost
	}
	one, _ := run("one server", func(string) {}, urls[0])
	two, _ := run("two servers", func(string) {}, urls...)
	ratio := two.Seconds() / one.Seconds()
	t.Logf("ratio %.2f", ratio)
	if *benchTasks >= 200 && ratio > 0.6 { // fewer are begun and ended for the most part
		t.Errorf("two servers take %.2f of the time of one", ratio)
	}
	_, lost := run("two servers, one killed", func(string) { _ = syscall.Kill(-servers[1].PID, syscall.SIGKILL) }, urls...)
	if !slices.ContainsFunc(lost, func(line string) bool { return strings.HasPrefix(line, "lost") }) {
		t.Errorf("nothing tells of the server that was killed: %q", lost)
	}
}

// watchBench returns the bytes of memory in use at marks of a run, and logs them; it
// calls half when half of the run is done.
func watchBench(t *testing.T, name, out string, done <-chan struct{}, half func(string)) (memory []uint64) {
	next, halved := 10, false
	for {
		select {
		case <-done:
			return memory
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
			memory = append(memory, m.HeapAlloc)
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
