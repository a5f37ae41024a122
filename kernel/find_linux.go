package kernel

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// kernelProcesses returns the processes that have a connection file among their
// arguments, by that file.
func kernelProcesses() map[string]procInfo {
	all := map[string]procInfo{}
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is good
	for _, path := range lines {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended, or is not for us to see
		}
		argv := strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
		for _, arg := range argv[1:] {
			arg = strings.TrimPrefix(arg, "--f=")
			if !strings.HasSuffix(arg, ".json") || !filepath.IsAbs(arg) {
				continue
			}
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path))) // digits, by the pattern
			dir, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))   // "" for others' processes
			all[arg] = procInfo{pid, dir, argv[0]}
		}
	}
	return all
}
