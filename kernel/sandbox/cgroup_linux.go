//go:build amd64 || arm64

package sandbox

import (
	"os"
	"path/filepath"
	"strings"
)

const cgroupFolder = "/sys/fs/cgroup"

// groupLimits are the files of a control group that libraries and undokernel read. Those of version 1
// are not among them.
var groupLimits = []string{"memory.max", "memory.current", "memory.stat", "cpu.max",
	"cpuset.cpus.effective"}

// groupFiles returns the files with the limits of this process's control group and its ancestors,
// none without one of version 2.
func groupFiles() (all []string) {
	b, _ := os.ReadFile("/proc/self/cgroup") // empty without control groups
	for line := range strings.Lines(string(b)) {
		group, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::/")
		for at := filepath.Join(cgroupFolder, group); ok && in(at, cgroupFolder); at = filepath.Dir(at) {
			for _, name := range groupLimits {
				all = append(all, filepath.Join(at, name))
			}
		}
	}
	return all
}
