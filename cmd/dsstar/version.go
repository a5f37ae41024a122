package main

import "runtime/debug"

// version returns the module version that the Go tool recorded, or "(devel)".
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
