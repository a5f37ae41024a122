package sandbox

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	deniedPath = regexp.MustCompile(`\[Errno (?:13|30|2)\] [A-Za-z -]+: (?:b?'([^']*)'|b?"([^"]*)")`)
	offline    = []string{
		"gaierror", "Name or service not known", "Temporary failure in name resolution", "Network is unreachable", "NewConnectionError",
		"NameResolutionError",
	}
	noGPU = []string{
		"No CUDA GPUs are available", "Found no NVIDIA driver", "no CUDA-capable device", "cudaErrorNoDevice", "cudaErrorInsufficientDriver", "CUDA_ERROR_NO_DEVICE",
		"No HIP GPUs are available", "hipErrorNoDevice", "no ROCm-capable device",
	}
	sharing = []string{"SemLock", "sem_open", "shared_memory", "/dev/shm", "_posixshmem"}
)

// Hint says what to do about an exception for which the box may be the reason, ""
// if it is none. name, value and trace are the exception as Python shows it. It
// looks at no file: the code that raised it must not learn more than it could see.
func (b Box) Hint(name, value, trace string) string {
	if !b.Tier.Confines() {
		return ""
	}
	any := func(list []string) bool {
		return slices.ContainsFunc(list, func(word string) bool {
			return name == word || strings.Contains(value, word) || strings.Contains(trace, word)
		})
	}
	denied := name == "PermissionError" || strings.Contains(value, "[Errno 1]") || strings.Contains(value, "[Errno 13]") ||
		strings.Contains(value, "[Errno 30]")
	hint := ""
	switch m := deniedPath.FindStringSubmatch(value); {
	case !b.Net && (any(offline) || denied && strings.Contains(trace, "socket")):
		hint = "the network is off; allow it with --allow-net"
	case b.HidesProc() && denied && any(sharing):
		hint = "processes that share memory are off; allow them with --allow-multiprocessing"
	case !b.GPU && b.Tier.Guarded() && any(noGPU):
		hint = "graphics processors are off; allow them with --allow-gpu"
	case m != nil && (denied || b.Tier == Full && name == "FileNotFoundError"):
		hint = b.hintAbout(m[1]+m[2], denied)
	case name == "MemoryError" || strings.Contains(name, "ArrayMemoryError"):
		hint = fmt.Sprintf("the code may use %s of memory; raise it with --max-memory", size(b.Limits.Memory))
	case strings.Contains(value, "[Errno 27]"):
		hint = fmt.Sprintf("a file may have %s; raise it with --max-file", size(b.Limits.File))
	case strings.Contains(value, "can't start new thread") || name == "BlockingIOError" && strings.Contains(value, "[Errno 11]"):
		hint = fmt.Sprintf("there may be %d processes and threads; raise it with --max-processes", b.Limits.Processes)
	}
	if hint == "" {
		return ""
	}
	return "dsstar sandbox: " + hint
}

// hintAbout is the hint for a file that could not be opened.
func (b Box) hintAbout(file string, denied bool) string {
	file = path.Clean(file)
	inside := slices.ContainsFunc(b.Read, func(dir string) bool { return in(file, dir) })
	switch {
	case inside && denied:
		return file + " is read-only; write to the current folder"
	case !path.IsAbs(file) && denied:
		return file + " is in a folder that is read-only; allow it with --allow-write FOLDER"
	case !path.IsAbs(file) || inside:
		return ""
	}
	return fmt.Sprintf("%s is outside the data and the run folder; allow it with --allow-read %s, or --allow-write for a folder", file, shellWord(file))
}

// shellWord quotes a path for a shell, if it must be.
func shellWord(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("/._-+,@%:=", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func size(n int64) string {
	if n >= 1<<30 {
		return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%d MB", n>>20)
}
