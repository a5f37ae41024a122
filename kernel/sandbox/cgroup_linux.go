//go:build amd64 || arm64

package sandbox

import (
	"os"
	"path/filepath"
	"strings"
)

const cgroupFolder = "/sys/fs/cgroup"

// groupLimits are the files of a control group that libraries and undokernel read, by controller
// of version 1, or "" for version 2.
var groupLimits = map[string][]string{
	"":       {"memory.max", "memory.current", "memory.stat", "cpu.max", "cpuset.cpus.effective"},
	"memory": {"memory.limit_in_bytes", "memory.usage_in_bytes"},
	"cpu":    {"cpu.cfs_quota_us", "cpu.cfs_period_us"},
}

// A groupFile is a file about the control group of this process.
type groupFile struct {
	path   string // in this program's view
	inside string // in a new namespace of control groups; "" for a file of an ancestor group
}

// groupFiles returns the files with the limits of this process's control group and its ancestors.
func groupFiles() (all []groupFile) {
	b, _ := os.ReadFile("/proc/self/cgroup") // empty without control groups
	for line := range strings.Lines(string(b)) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for _, controller := range strings.Split(parts[1], ",") {
			top := filepath.Join(cgroupFolder, controller)
			for group := filepath.Join("/", parts[2]); ; group = filepath.Dir(group) {
				for _, name := range groupLimits[controller] {
					f := groupFile{path: filepath.Join(top, group, name)}
					if group == filepath.Join("/", parts[2]) {
						f.inside = filepath.Join(top, name)
					}
					if _, err := os.Stat(f.path); err == nil {
						all = append(all, f)
					}
				}
				if group == "/" {
					break
				}
			}
		}
	}
	return all
}

// groupParts returns the parts of the view that show the limits of the session's control group.
func groupParts() (parts []part) {
	for _, f := range groupFiles() {
		if f.inside != "" {
			parts = append(parts, part{kind: readPart, from: f.path, at: f.inside, optional: true})
		}
	}
	return parts
}
