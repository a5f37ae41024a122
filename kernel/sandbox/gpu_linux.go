//go:build amd64 || arm64

package sandbox

import "path/filepath"

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
