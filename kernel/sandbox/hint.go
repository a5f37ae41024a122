package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"dsstar/notebook/human"
)

var (
	deniedPath = regexp.MustCompile(`\[Errno (?:13|30|2)\] [A-Za-z -]+: (?:b?'([^']*)'|b?"([^"]*)")`)
	offline    = []string{
		"gaierror", "Name or service not known", "Temporary failure in name resolution",
		"Network is unreachable", "NewConnectionError",
		"NameResolutionError",
	}
	noGPU = []string{
		"No CUDA GPUs are available", "Found no NVIDIA driver", "no CUDA-capable device",
		"cudaErrorNoDevice", "cudaErrorInsufficientDriver", "CUDA_ERROR_NO_DEVICE",
		"No HIP GPUs are available", "hipErrorNoDevice", "no ROCm-capable device",
	}
	// Traceback frames in the library's files, rather than words in the user's code.
	socketFrame  = regexp.MustCompile(`/socket\.py["':]`)
	sharingFrame = regexp.MustCompile(`/(?:synchronize|shared_memory|heap)\.py["':]`)
)

// Death adds to how a process ended that the memory limit may be the cause: where no more memory is to
// be had, some libraries crash, such as pandas' reader of CSV files.
func (b Box) Death(how string) string {
	if !b.Tier.Confines() || b.Limits.Memory == 0 || !crashes.MatchString(how) {
		return how
	}
	return how + fmt.Sprintf("; code that uses much memory may crash so, of which it has %s: read the "+
		"data in parts, or raise it with --max-memory", limitText(b.Limits.Memory))
}

var crashes = regexp.MustCompile(`\(SIG(SEGV|ABRT|BUS|FPE|ILL|TRAP)\)`)

// Hint returns how to avoid an exception that the box may have caused, "" if it did not. name,
// value and trace are the exception as Python shows it; own are the session's writable folders and
// dir is its first working folder. Hint looks at the file that the exception names, so its result
// is for the notebook only: the code that raised the exception must not learn more than it could
// see.
func (b Box) Hint(name, value, trace, dir string, own ...string) string {
	if !b.Tier.Confines() {
		return ""
	}
	has := func(word string) bool {
		return name == word || strings.Contains(value, word) || strings.Contains(trace, word)
	}
	refused := strings.Contains(value, "[Errno 1]")
	denied := refused || name == "PermissionError" || strings.Contains(value, "[Errno 13]") ||
		strings.Contains(value, "[Errno 30]")
	hint := ""
	switch m := deniedPath.FindStringSubmatch(value); {
	case !b.Net && (slices.ContainsFunc(offline, has) || refused && socketFrame.MatchString(trace)):
		hint = "the network is off; allow it with --allow-net"
	case b.hidesProc() && denied && (sharingFrame.MatchString(trace) || strings.Contains(value,
		"/dev/shm") && (m == nil || !b.reads(m[1]+m[2]))):
		hint = "processes that share memory are off; allow them with --allow-multiprocessing"
	case !b.GPU && b.Tier.Confines() && slices.ContainsFunc(noGPU, has):
		hint = "graphics processors are off; allow them with --allow-gpu"
	case m != nil && (denied || b.Tier == Full && name == "FileNotFoundError"):
		hint = b.hintAbout(m[1]+m[2], denied, strings.Contains(value, "[Errno 30]"), dir, own)
	case name == "MemoryError" || strings.Contains(name, "ArrayMemoryError"):
		hint = fmt.Sprintf("the code may use %s of memory; read the data in parts, or raise it with --max-memory",
			limitText(b.Limits.Memory))
	case strings.Contains(value, "[Errno 27]"):
		hint = fmt.Sprintf("a file may have %s; raise it with --max-file", limitText(b.Limits.File))
	case strings.Contains(value, "can't start new thread") || name == "BlockingIOError" &&
		strings.Contains(value, "[Errno 11]"):
		hint = fmt.Sprintf("there may be %d processes and threads; raise it with --max-processes",
			b.Limits.Processes)
	}
	if hint == "" {
		return ""
	}
	return "dsstar sandbox: " + hint
}

// hintAbout returns the hint about a file that could not be opened: because access was denied (to
// write, if writing is set), or because the file was not found.
func (b Box) hintAbout(file string, denied, writing bool, dir string, own []string) string {
	file = filepath.Clean(file)
	if !filepath.IsAbs(file) {
		exists := func(dir string) bool {
			_, err := os.Lstat(filepath.Join(dir, file))
			return filepath.IsLocal(file) && err == nil
		}
		if !denied || slices.ContainsFunc(own, exists) {
			return ""
		}
		name := file
		file = filepath.Join(dir, file) // probably: cells can change to other folders
		if real, info := behind(file); writing || dir == "" || info == nil || b.reads(real) {
			return name + " is in a folder that is read-only; allow it with --allow-write " +
				writable(name, dir, own)
		}
	}
	real, info := behind(file)
	readable := b.reads(real)
	switch {
	case inAny(real, slices.Concat(own, b.Write)):
		return "" // the cause is its mode, or it is missing
	case ofMachine(real):
		return "" // it cannot be allowed
	case readable && denied && (writing || info == nil || info.Mode()&0o444 != 0):
		return file + " is read-only; write to the current folder"
	case readable || !denied && info == nil:
		return "" // the cause is its mode, or there is no such file
	case AboveHome(real):
		return fmt.Sprintf("%s has all that is yours; allow what is needed of it with --allow-read PATH",
			file)
	}
	if inAny(file, slices.Concat(b.Read, own)) {
		file = real // the target of a link in there
	}
	if !MayAdvise(file) {
		return file + " is hidden, the system's or may hold credentials; cells are not meant to use it"
	}
	return fmt.Sprintf("%s is outside the data and the run folder; allow it with --allow-read %s, "+
		"or --allow-write for a folder", file, human.Shell(file))
}

// writable returns the folder to allow for a file that could not be written: the session's first
// working folder, or the placeholder FOLDER, as the code itself may have chosen any other.
func writable(name, dir string, own []string) string {
	hidden := strings.Contains(filepath.Join(dir, name), "/.")
	// dir is a run folder, where cells write to files/
	has := func(folder string) bool { return in(folder, dir) }
	if dir == "" || hidden || !filepath.IsLocal(name) || AboveHome(dir) ||
		slices.ContainsFunc(own, has) {
		return "FOLDER"
	}
	return human.Shell(dir)
}

// reads reports whether the box was given a real path to read.
func (b Box) reads(path string) bool { return inAny(path, slices.Concat(b.Read, systemReads)) }

// behind returns the real path of a path, and its FileInfo; nil if it does not exist.
func behind(path string) (real string, info os.FileInfo) {
	real, err := realPath(path)
	if err != nil {
		if dir := filepath.Dir(path); dir != path {
			parent, _ := behind(dir)
			return filepath.Join(parent, filepath.Base(path)), nil
		}
		return path, nil
	}
	info, _ = os.Stat(real)
	return real, info
}

// inAny reports whether a path is in one of the folders, by name or by real path.
func inAny(path string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		real, _ := behind(folder)
		return in(path, folder) || in(path, real)
	})
}

// limitText formats a limit as people write it, in decimal units: 5 MB, 4.3 GB.
func limitText(n int64) string {
	return strings.Replace(human.Bytes(n), ".0 ", " ", 1)
}
