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

// gpuDevices returns the devices of graphics processors by NVIDIA (also in Jetsons and WSL), AMD
// and Intel. /dev/dri/card* are not among them, as they control screens.
func gpuDevices() []string {
	return matching("/dev/nvidia*", "/dev/nvhost-*", "/dev/nvmap", "/dev/dxg", "/dev/kfd",
		"/dev/dri/renderD*")
}

// gpuReads returns the system's files that only drivers of graphics processors need.
func gpuReads() []string {
	return matching("/sys/class/drm", "/sys/class/kfd", "/sys/devices/virtual/kfd",
		"/sys/bus/pci/devices", "/sys/devices/pci*", "/sys/dev/char",
		"/sys/module/nvidia*", "/sys/module/amdgpu", "/etc/vulkan", "/etc/nvidia", "/etc/glvnd")
}

// gpuProc are such files below /proc, for the builtin tier.
var gpuProc = []string{"/proc/driver/nvidia", "/proc/devices", "/proc/modules"}

func matching(patterns ...string) (all []string) {
	for _, pattern := range patterns {
		found, _ := filepath.Glob(pattern) // the patterns are valid
		all = append(all, found...)
	}
	return all
}
