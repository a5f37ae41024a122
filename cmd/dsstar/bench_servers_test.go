//go:build linux || darwin

package main

import (
	"flag"
	"fmt"
	"path/filepath"
	"runtime"
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
	benchDelay = flag.Duration("bench-delay", 4*time.Second,
		"how long the model of TestBenchServers takes for a reply")
)

// TestBenchServers runs tasks on one real Jupyter server and on two, four at once on each, with a
// slow model; then on two, one of which it kills halfway. No task is lost, and each has one result.
// The log has the times and the memory in use:
//
//	DSSTAR_LONG=1 go test ./cmd/dsstar -run TestBenchServers -bench-tasks 1000 -timeout 4h -v
func TestBenchServers(t *testing.T) {
	pyenvtest.Long(t)
	model := llmtest.New(t, func(r llmtest.Request) llmtest.Response {
		response := adds(r)
		response.Delay = *benchDelay
		return response
	})
	model.KeepNone() // else they would dominate the memory in use
	one := kerneltest.JupyterServer(t, pyenvtest.Tools(t), nil)
	other := kerneltest.JupyterServer(t, pyenvtest.Tools(t), nil)
	tasks, dir := trialTasks(t, *benchTasks), t.TempDir()
	run := func(name string, half func(), servers ...*kerneltest.Server) (stderr string) {
		out := filepath.Join(dir, name)
		args := []string{"bench", "run", "--bench", "dir", "--tasks", tasks, "--agent", "react", "--yes",
			"--base-url", model.URL, "--model", "scripted", "--out", out,
			"--jobs", fmt.Sprint(4 * len(servers))}
		for _, s := range servers {
			args = append(args, "--server", s.URL+"/?token="+s.Token)
		}
		a, stdout, errs := testApp(t, kernelstest.Env(t, t.TempDir())...)
		done := make(chan struct{})
		go watchBench(out, done, half)
		begun := time.Now()
		code := a.run(t.Context(), args)
		close(done)
		if code != exitVerified {
			t.Fatalf("%s: exit code %d\n%s", name, code, errs)
		}
		result, err := runner.Read(out)
		lines := results(t, out)
		if err != nil || len(result.Missing()) > 0 || lines != *benchTasks {
			t.Errorf("%s: %v, %d results of %d tasks", name, err, lines, *benchTasks)
		}
		for _, r := range result.Records {
			if r.Cause == runner.ModelError || r.Cause == runner.KernelError || r.Answer == "" {
				t.Errorf("%s: %s: %s %s", name, r.Task, r.Cause, r.Error)
			}
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		t.Logf("%s: %.1f s, %.1f MB of memory in use, %d goroutines; %s", name,
			time.Since(begun).Seconds(), float64(m.HeapAlloc)/1e6, runtime.NumGoroutine(), stdout)
		return errs.String()
	}
	run("one server", func() {}, one)
	run("two servers", func() {}, one, other)
	said := run("two servers, one killed", func() {
		_ = syscall.Kill(-other.PID, syscall.SIGKILL)
	}, one, other)
	wantText(t, "stderr", said, "\nlost ")
}

// watchBench calls half when half of the tasks are done.
func watchBench(out string, done <-chan struct{}, half func()) {
	for {
		select {
		case <-done:
			return
		case <-time.After(100 * time.Millisecond):
		}
		result, err := runner.Read(out)
		if err == nil && len(result.Missing()) <= *benchTasks/2 {
			half()
			return
		}
	}
}
