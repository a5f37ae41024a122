//go:build amd64 || arm64

package sandbox

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"dsstar/notebook/lists"
)

// The kinds of parts of the file system view.
type partKind int

const (
	newPart      partKind = iota // a file system of its own, of the type from
	bindPart                     // from, which may be missing if cells do not write it
	linkPart                     // a symbolic link to from
	folderPart                   // an empty folder, if nothing is there
	readOnlyPart                 // remount the folder read-only; at /, nothing can be added afterwards
)

// How a path is bound. All are nosuid, all but devices are nodev.
const (
	asDevice = unix.MOUNT_ATTR_NOSUID
	toWrite  = asDevice | unix.MOUNT_ATTR_NODEV
	toRead   = toWrite | unix.MOUNT_ATTR_RDONLY
)

// A part is one step in building the view of the full tier.
type part struct {
	kind     partKind
	from, at string
	flags    uint64 // of the mount
	options  string // of a new file system
}

func memory(at string, size int64) part {
	return part{newPart, "tmpfs", at, unix.MS_NOSUID | unix.MS_NODEV,
		"mode=755,size=" + strconv.FormatInt(size, 10)}
}

// bound returns the steps that bind paths where they are.
func bound(flags uint64, paths []string) []part {
	return lists.Map(paths, func(path string) part {
		return part{kind: bindPart, from: path, at: path, flags: flags}
	})
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
	const flags = unix.MS_NOSUID | unix.MS_NOEXEC
	parts := []part{{newPart, "proc", "/proc", flags | unix.MS_NODEV, ""}, memory("/dev", 1<<20),
		{newPart, "devpts", "/dev/pts", flags,
			"newinstance,ptmxmode=0666,mode=620,max=64"}} // the namespaces of a machine share 3,072
	parts = append(parts, bound(asDevice, devices)...)
	for name, target := range deviceLinks {
		parts = append(parts, part{kind: linkPart, from: target, at: "/dev/" + name})
	}
	parts = append(parts, bound(toRead, below("/proc", machineFiles))...)
	for _, at := range below("/proc", machineCounters) {
		if _, err := os.Lstat(at); err == nil {
			parts = append(parts, part{kind: bindPart, from: "/dev/null", at: at, flags: toRead})
		}
	}
	for _, dir := range []string{"/tmp", "/dev/shm"} {
		parts = append(parts, memory(dir, cmp.Or(st.Box.Limits.Memory, 1<<30)))
	}
	reads := slices.Concat(systemReads, st.Read, st.Named, groupFiles())
	if st.Box.GPU {
		parts = append(parts, bound(asDevice, gpuDevices())...)
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
			parts = append(parts, part{kind: bindPart, from: path, at: path, flags: toRead})
		}
	}
	parts = append(parts, bound(toWrite, st.Write)...)
	over, closing := st.hidden(parts)
	parts = append(parts, over...)
	for _, path := range st.Sockets {
		hidden := false // already, by the last part over it
		for _, p := range over {
			if in(path, p.at) {
				hidden = p.kind == newPart
			}
		}
		if hidden {
			continue
		}
		// if it is gone, nobody can create it in the read-only folder
		if _, err := os.Lstat(path); err == nil {
			// nobody listens on /dev/null
			parts = append(parts, part{kind: bindPart, from: "/dev/null", at: path, flags: toRead})
		}
	}
	parts = append(parts,
		part{kind: folderPart, at: st.Dir}, // even if it is not readable
		part{kind: bindPart, from: self, at: inside, flags: toRead})
	return append(append(parts, closing...), part{kind: readOnlyPart, at: "/"}), nil
}

// hidden returns the parts that hide folders of Own where parts would show them: an empty folder
// over each, and over it the paths inside that cells read and write, outer ones first. closing
// makes the empty folders read-only.
func (st stage) hidden(parts []part) (over, closing []part) {
	for _, p := range parts {
		if p.kind != bindPart {
			continue
		}
		from, err := filepath.EvalSymlinks(p.from)
		if err != nil {
			continue // missing
		}
		for _, own := range st.Own {
			hide := memory(p.at+strings.TrimPrefix(own, from), 1<<20)
			if in(own, from) && !slices.Contains(over, hide) {
				over = append(over, hide)
				closing = append(closing, part{kind: readOnlyPart, at: hide.at})
			}
		}
	}
	isInside := func(p part) bool {
		return slices.ContainsFunc(closing, func(c part) bool { return p.at != c.at && in(p.at, c.at) })
	}
	shown := append(bound(toRead, st.Read), bound(toWrite, st.Write)...)
	over = append(over, lists.Where(shown, isInside)...)
	slices.SortStableFunc(over, func(a, b part) int { return len(a.at) - len(b.at) })
	return over, closing
}
