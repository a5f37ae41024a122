package main

import "runtime/debug"

// release is the version of a released program, set by the linker.
var release string

// version returns the version of the release, or else the module version that the Go tool recorded, or
// "(devel)".
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
