//go:build !linux

package kernel

// kernelProcesses returns nothing: only Linux tells without another program.
func kernelProcesses() map[string]procInfo { return nil }
