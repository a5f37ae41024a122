package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A usage is the cost of a process.
type usage struct{ seconds, megabytes float64 }

func (u usage) String() string { return fmt.Sprintf("%.2f s, %.1f MB", u.seconds, u.megabytes) }

// measureProcess runs a command to its end. Its memory is the peak of the
// process alone, without its kernel.
func measureProcess(cmd *exec.Cmd) (usage, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return usage{}, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var peak float64
	for {
		select {
		case err := <-ended:
			if err != nil {
				err = fmt.Errorf("%s: %w\n%s", cmd, err, out.Bytes())
			}
			return usage{time.Since(begun).Seconds(), peak}, err
		case <-time.After(5 * time.Millisecond):
			peak = max(peak, highWater(cmd.Process.Pid))
		}
	}
}

// highWater returns the peak resident memory of a process in MB so far.
func highWater(pid int) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(after)
	if len(fields) == 0 {
		return 0
	}
	kilobytes, _ := strconv.ParseFloat(fields[0], 64)
	return kilobytes / 1000
}

func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	return values[len(values)/2]
}

func ratio(ours, theirs float64) string { return fmt.Sprintf("ratio %.2f", ours/theirs) }
