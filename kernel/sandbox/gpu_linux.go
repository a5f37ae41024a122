//go:build amd64 || arm64

package sandbox

import "path/filepath"

// gpuDevices are the graphics processors of NVIDIA (Jetsons' and those of WSL too), AMD and Intel
// that Linux has. Not /dev/dri/card*, which are the screens.
func gpuDevices() []string {
	return matching("/dev/nvidia*", "/dev/nvhost-*", "/dev/nvmap", "/dev/dxg", "/dev/kfd",
		"/dev/dri/renderD*")
}

// gpuReads are the system's files that only their drivers need.
func gpuReads() []string {
	return matching("/sys/class/drm", "/sys/class/kfd", "/sys/devices/virtual/kfd",
		"/sys/bus/pci/devices", "/sys/devices/pci*", "/sys/dev/char",
		"/sys/module/nvidia*", "/sys/module/amdgpu", "/etc/vulkan", "/etc/nvidia", "/etc/glvnd")
}

// gpuProc are the same below /proc, for the builtin tier.
var gpuProc = []string{"/proc/driver/nvidia", "/proc/devices", "/proc/modules"}

func matching(patterns ...string) (all []string) {
	for _, pattern := range patterns {
		found, _ := filepath.Glob(pattern) // the patterns are valid
		all = append(all, found...)
	}
	return all
}
