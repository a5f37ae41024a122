package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"dsstar/configs"
	"dsstar/kernel/sandbox"
)

const leastMemory = 1 << 30 // bytes: numpy, pandas and scikit-learn take half of it

// box is what confines the kernels of this machine that are started, as the
// settings say. why is the reason for no better one, "" if there is none.
func box(s *configs.Settings) (b sandbox.Box, why string, err error) {
	tier, why, err := sandbox.Choose(s.Sandbox)
	if err != nil {
		return b, "", err
	}
	b = sandbox.Box{
		Tier: tier, Env: s.AllowEnv, Net: s.AllowNet, GPU: s.AllowGPU, Multiprocessing: s.AllowMultiprocessing,
		Limits: sandbox.Limits{Memory: int64(s.MaxMemory), Processes: s.MaxProcesses, File: int64(s.MaxFile), Folder: int64(s.MaxFolder)},
	}
	if b.Limits.Memory == 0 {
		b.Limits.Memory = max(leastMemory, availableMemory()/4*3)
	}
	for _, list := range []struct {
		from []string
		to   *[]string
		flag string
	}{{s.AllowRead, &b.Read, "--allow-read"}, {s.AllowWrite, &b.Write, "--allow-write"}} {
		for _, path := range list.from {
			abs, err := filepath.Abs(path)
			if err == nil {
				_, err = os.Stat(abs)
			}
			if err != nil {
				return b, "", &usageError{fmt.Sprintf("%s: %v", list.flag, err), []string{"ls -ld " + quoteShell(path)}}
			}
			*list.to = append(*list.to, abs)
		}
	}
	for _, path := range b.Write {
		if at := sandbox.Startup(path); at != "" && tier.Confines() {
			return b, "", &usageError{fmt.Sprintf("--allow-write: %s would give your account to the cells: programs run what is in %s when they start", path, at),
				[]string{"mkdir out && dsstar nb --allow-write out …   # a folder for what cells are to write"}}
		}
	}
	return b, why, nil
}

// launches are names in a project's folder from which tools run something by themselves.
var launches = []string{".git", ".envrc", ".vscode", ".idea", ".devcontainer", ".pre-commit-config.yaml"}

// handsOver warns of folders that cells may write and in which the user's tools run something by themselves; "" if none
// is known.
func handsOver(b sandbox.Box) string {
	for _, path := range b.Write {
		for _, name := range launches {
			if _, err := os.Lstat(filepath.Join(path, name)); err == nil && b.Tier.Confines() {
				return fmt.Sprintf("--allow-write %s: cells can change %s there, and what your tools run from it runs outside the sandbox", path, name)
			}
		}
	}
	return ""
}

// inWords says what a box of these settings holds, and what they relax of it. What a run itself needs is not yet in it.
func inWords(b sandbox.Box, s *configs.Settings) string {
	usual := sandbox.Limits{Memory: b.Limits.Memory}
	if s.MaxMemory != 0 {
		usual.Memory = max(leastMemory, availableMemory()/4*3)
	}
	if d, err := configs.Load(configs.Sources{}); err == nil { // the defaults, which cannot fail
		usual.Processes, usual.File, usual.Folder = d.MaxProcesses, int64(d.MaxFile), int64(d.MaxFolder)
	}
	return b.Describe(usual)
}

// availableMemory returns how many bytes can be had, 0 if nobody knows.
func availableMemory() int64 {
	content, _ := os.ReadFile("/proc/meminfo")
	_, after, _ := strings.Cut(string(content), "MemAvailable:")
	fields := strings.Fields(after)
	if len(fields) == 0 {
		return 0
	}
	kilobytes, _ := strconv.ParseInt(fields[0], 10, 64)
	free := kilobytes << 10
	if limit, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil { // of a container
		if n, err := strconv.ParseInt(strings.TrimSpace(string(limit)), 10, 64); err == nil {
			free = min(free, n)
		}
	}
	return free
}

// confine has the kernels of this machine confined as the settings say.
func (p *place) confine(s *configs.Settings, say func(string)) error {
	if p.server.URL != "" {
		return nil // they are the server's
	}
	b, why, err := box(s)
	if err != nil {
		return err
	}
	if p.box, p.confined = b, inWords(b, s); why != "" {
		say("the sandbox is " + string(b.Tier) + ": " + why)
	}
	if warning := handsOver(b); warning != "" {
		say("warning: " + warning)
	}
	return nil
}

// sandbox is what confines the run's own session, in words.
func (p *place) sandbox() string {
	switch {
	case p.guest != nil:
		return "none (attached)"
	case p.server.URL != "":
		return "none (of a server)"
	}
	return p.confined
}

// memory is how many bytes the run's own session may take; 0 where nothing holds it
// to that.
func (p *place) memory() int64 {
	if p.guest != nil || p.server.URL != "" || !p.box.Tier.Guarded() {
		return 0
	}
	return p.box.Limits.Memory
}
