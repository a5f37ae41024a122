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

// ownGroup returns the path of this process's control group; "" without one of version 2.
func ownGroup() string {
	b, _ := os.ReadFile("/proc/self/cgroup") // empty without control groups
	for line := range strings.Lines(string(b)) {
		if group, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); ok {
			return filepath.Join("/", group)
		}
	}
	return ""
}

// groupFiles returns the files with the limits of this process's control group and its ancestors.
func groupFiles() (all []string) {
	group := ownGroup()
	for ; group != ""; group = filepath.Dir(group) {
		for _, name := range groupLimits {
			all = append(all, filepath.Join(cgroupFolder, group, name))
		}
		if group == "/" {
			break
		}
	}
	return all
}

// groupParts returns the parts of the view that show the limits of the session's control group, which
// is the top of its namespace.
func groupParts() (parts []part) {
	if group := ownGroup(); group != "" {
		for _, name := range groupLimits {
			parts = append(parts, part{kind: readPart, from: filepath.Join(cgroupFolder, group, name),
				at: filepath.Join(cgroupFolder, name), optional: true})
		}
	}
	return parts
}
