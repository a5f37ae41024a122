//go:build amd64 || arm64

package sandbox

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The kinds of parts of the file system view. All are nosuid, all but devices are nodev.
type partKind int

const (
	procPart      partKind = iota // /proc of the namespace
	terminalsPart                 // pseudo-terminals of its own
	memoryPart                    // an empty tmpfs with a size limit
	readPart                      // from, read-only
	writePart                     // from, writable
	devicePart                    // a device at from
	linkPart                      // a symbolic link to from
	folderPart                    // an empty folder, if nothing is there
	readOnlyPart                  // remount the folder read-only; at /, nothing can be added afterwards
)

// A part is one step in building the view of the full tier. What it shows may be missing, except what
// cells write.
type part struct {
	kind     partKind
	from, at string
	size     int64 // bytes, of memory
}

// machineFiles are files and folders of /proc that root could write to: with /proc/sys, to
// core_pattern of the whole machine.
var machineFiles = []string{"sys", "sysrq-trigger", "irq", "bus"}

// machineCounters are files of /proc through which sessions could communicate, or that only root
// may read.
var machineCounters = []string{"vmstat", "kpageflags", "kpagecount", "kpagecgroup", "slabinfo",
	"timer_list", "vmallocinfo", "pagetypeinfo"}

var deviceLinks = map[string]string{"stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1",
	"stderr": "/proc/self/fd/2", "fd": "/proc/self/fd", "core": "/proc/kcore", "ptmx": "pts/ptmx"}

// inside is the path of this executable in the namespaces of the full tier.
const inside = "/.dsstar"

// view returns the file system of the full tier, for [stage.mountAll].
func (st stage) view(self string) ([]part, error) {
	parts := []part{{kind: procPart, at: "/proc"}, {kind: memoryPart, at: "/dev", size: 1 << 20},
		{kind: terminalsPart, at: "/dev/pts"}}
	for _, path := range devices {
		parts = append(parts, part{kind: devicePart, from: path, at: path})
	}
	for name, target := range deviceLinks {
		parts = append(parts, part{kind: linkPart, from: target, at: "/dev/" + name})
	}
	for _, name := range machineFiles {
		parts = append(parts, part{kind: readPart, from: "/proc/" + name, at: "/proc/" + name})
	}
	for _, name := range machineCounters {
		if _, err := os.Lstat("/proc/" + name); err == nil {
			parts = append(parts, part{kind: readPart, from: "/dev/null", at: "/proc/" + name})
		}
	}
	for _, dir := range []string{"/tmp", "/dev/shm"} {
		parts = append(parts, part{kind: memoryPart, at: dir, size: cmp.Or(st.Box.Limits.Memory, 1<<30)})
	}
	reads := slices.Concat(systemReads, st.Read, st.Named, groupFiles())
	if st.Box.GPU {
		for _, path := range gpuDevices() {
			parts = append(parts, part{kind: devicePart, from: path, at: path})
		}
		reads = append(reads, gpuReads()...)
	}
	for _, path := range reads {
		info, err := os.Lstat(path)
		switch {
		case err != nil:
			continue // missing
		case info.Mode()&os.ModeSymlink != 0 && filepath.Dir(path) == "/": // /bin is /usr/bin
			target, err := os.Readlink(path)
			if err != nil {
				return nil, err
			}
			parts = append(parts, part{kind: linkPart, from: target, at: path})
		default:
			parts = append(parts, part{kind: readPart, from: path, at: path})
		}
	}
	for _, path := range st.Write {
		parts = append(parts, part{kind: writePart, from: path, at: path})
	}
	over, closing := st.hidden(parts)
	parts = append(parts, over...)
	for _, path := range st.Sockets {
		last := part{}
		for _, p := range over {
			if in(path, p.at) {
				last = p
			}
		}
		if last.kind == memoryPart {
			continue // already hidden
		}
		// if it is gone, nobody can create it in the read-only folder
		if _, err := os.Lstat(path); err == nil {
			// nobody listens on /dev/null
			parts = append(parts, part{kind: readPart, from: "/dev/null", at: path})
		}
	}
	parts = append(parts,
		part{kind: folderPart, at: st.Dir}, // even if it is not readable
		part{kind: readPart, from: self, at: inside})
	return append(append(parts, closing...), part{kind: readOnlyPart, at: "/"}), nil
}

// hidden returns the parts that hide folders of Own where parts would show them: an empty folder
// over each, and over it the paths inside that cells read and write, outer ones first. closing
// makes the empty folders read-only.
func (st stage) hidden(parts []part) (over, closing []part) {
	for _, p := range parts {
		if p.kind != readPart && p.kind != writePart {
			continue
		}
		from, err := filepath.EvalSymlinks(p.from)
		if err != nil {
			continue // missing
		}
		for _, own := range st.Own {
			hide := part{kind: memoryPart, at: p.at + strings.TrimPrefix(own, from), size: 1 << 20}
			if in(own, from) && !slices.Contains(over, hide) {
				over = append(over, hide)
				closing = append(closing, part{kind: readOnlyPart, at: hide.at})
			}
		}
	}
	add := func(kind partKind, paths []string) {
		for _, path := range paths {
			if slices.ContainsFunc(closing, func(c part) bool { return path != c.at && in(path, c.at) }) {
				over = append(over, part{kind: kind, from: path, at: path})
			}
		}
	}
	add(readPart, st.Read)
	add(writePart, st.Write)
	slices.SortStableFunc(over, func(a, b part) int { return len(a.at) - len(b.at) })
	return over, closing
}
