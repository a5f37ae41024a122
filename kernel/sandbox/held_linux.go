//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// held is what processes keep by their descriptors and no folder shows, in bytes: deleted files, and
// what Linux itself needs for descriptors and for what is in sockets and pipes.
type held struct {
	memory, disk int64
	sockets      map[string]bool // as /proc shows them
	mappings     int             // at least, if there are more than mostMappings
}

// mostMappings is how many mappings the processes may have together: each takes memory of Linux's, and to look at
// them all takes time.
const (
	mostMappings  = 1 << 20
	sizeOfMapping = 220 // bytes, about
)

// Linux does not tell how much is in a Unix socket or a pipe. A program has few: others count as full.
const (
	fewBuffers        = 256
	bufferOfSocket    = 256 << 10 // by default 208 kB, and a last piece; SO_SNDBUF does nothing
	bufferOfPipe      = 64 << 10  // by default; a user has 64 MB of larger ones
	leastOfDescriptor = 1 << 10   // that of an empty file in memory
)

// An inode is a file, by whatever name.
type inode struct{ dev, ino uint64 }

// gone is how Linux shows the path of a file that is deleted.
const gone = " (deleted)"

// heldBy returns what processes hold open, or have only mapped still. What cannot be seen is a file that is on its way
// from one process to another.
func heldBy(pids []int) (sum held) {
	seen := map[inode]bool{}
	count := func(file inode, path string, bytes int64) {
		switch {
		case seen[file]:
			return
		case strings.HasPrefix(path, "/memfd:"), strings.HasPrefix(path, "/dev/shm/"):
			sum.memory += bytes
		default:
			sum.disk += bytes
		}
		seen[file] = true
	}
	sum.sockets = map[string]bool{}
	pipes := map[string]bool{}
	for _, pid := range pids { // first what is open, of which the size is known
		eachDescriptor(pid, func(fd, target string) {
			sum.memory += leastOfDescriptor
			switch {
			case strings.HasPrefix(target, "socket:"):
				sum.sockets[target] = true
			case strings.HasPrefix(target, "pipe:"):
				pipes[target] = true
			case strings.HasSuffix(target, gone):
				if st, ok := regular(fd, target); ok && st.Nlink == 0 {
					count(inode{uint64(st.Dev), st.Ino}, target, st.Blocks*512)
				}
			}
		})
	}
	sum.memory += int64(max(0, len(sum.sockets)-fewBuffers))*bufferOfSocket + int64(max(0, len(pipes)-fewBuffers))*bufferOfPipe
	for _, pid := range pids {
		if sum.mappings > mostMappings {
			break
		}
		sum.mappings += eachMapped(pid, func(path string, file inode, end int64) {
			if strings.HasSuffix(path, gone) && path != "/dev/zero"+gone { // which is memory without a file
				count(file, path, end)
			}
		})
	}
	return sum
}

// eachDescriptor calls f for each descriptor of a process: its path in /proc, and where that leads.
func eachDescriptor(pid int, f func(fd, target string)) {
	t, _ := running(pid) // it may have ended
	dir := "/proc/" + strconv.Itoa(t.id) + "/fd/"
	open, _ := os.ReadDir(dir)
	for _, fd := range open {
		if target, err := os.Readlink(dir + fd.Name()); err == nil {
			f(dir+fd.Name(), target)
		}
	}
}

// eachOpen calls f for each regular file that a process has open.
func eachOpen(pid int, f func(path string, st *syscall.Stat_t)) {
	eachDescriptor(pid, func(fd, target string) {
		if st, ok := regular(fd, target); ok {
			f(target, st)
		}
	})
}

// regular returns what Linux tells of a descriptor of a regular file.
func regular(fd, target string) (st *syscall.Stat_t, ok bool) {
	st = &syscall.Stat_t{}
	return st, strings.HasPrefix(target, "/") && syscall.Stat(fd, st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG
}

// queued returns what waits in sockets of the network, which grow with it.
func (w watch) queued(pids []int, sockets map[string]bool) (sum int64) {
	if w.Box.Tier == Builtin && !w.Box.Net {
		return 0 // there are none
	}
	t, ok := w.inside(pids)
	if !ok {
		return 0
	}
	net := "/proc/" + strconv.Itoa(t.id) + "/net/"
	for _, table := range socketTables(net) {
		b, _ := os.ReadFile(net + table)
		for line := range strings.Lines(string(b)) {
			fields := strings.Fields(line) // local and remote address in the second and third, the inode in the tenth
			if len(fields) < 10 || !sockets["socket:["+fields[9]+"]"] {
				continue
			}
			for _, queue := range strings.Split(fields[4], ":") {
				n, _ := strconv.ParseInt(queue, 16, 64) // Linux has written it
				sum += n
			}
		}
	}
	return sum
}

// socketTables returns the tables in a folder like /proc/net that list a socket of the network namespace. Even an empty
// one takes long to read: Linux goes through the sockets of all namespaces.
func socketTables(net string) (tables []string) {
	for _, stat := range []string{"sockstat", "sockstat6"} {
		b, _ := os.ReadFile(net + stat)
		for line := range strings.Lines(string(b)) {
			// TCP6: inuse 2
			if fields := strings.Fields(line); len(fields) > 2 && fields[1] == "inuse" && fields[2] != "0" {
				tables = append(tables, strings.ToLower(strings.TrimSuffix(fields[0], ":")))
			}
		}
	}
	return tables
}

// eachMapped calls f for each file of which a process has a part in its memory and that is deleted or in shmFolder; end
// is where in the file that part ends. It returns how many mappings the process has.
func eachMapped(pid int, f func(path string, file inode, end int64)) (mappings int) {
	t, _ := running(pid) // it may have ended
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(t.id) + "/maps")
	for line := range bytes.Lines(b) {
		mappings++
		if !bytes.HasSuffix(line, []byte(gone+"\n")) && !bytes.Contains(line, []byte(shmFolder)) {
			continue // there are thousands
		}
		// 7f00-7f01 rw-s 00001000 00:01 1027 /path
		at := bytes.IndexByte(line, '/')
		if at < 0 {
			continue
		}
		fields := strings.Fields(string(line[:at]))
		if len(fields) != 5 {
			continue
		}
		from, to, _ := strings.Cut(fields[0], "-")
		major, minor, _ := strings.Cut(fields[3], ":")
		var n [6]uint64
		for i, word := range []string{from, to, fields[2], major, minor} {
			n[i], _ = strconv.ParseUint(word, 16, 64) // Linux has written it
		}
		n[5], _ = strconv.ParseUint(fields[4], 10, 64)
		path := string(bytes.TrimRight(line[at:], "\n"))
		f(path, inode{unix.Mkdev(uint32(n[3]), uint32(n[4])), n[5]}, int64(n[2]+n[1]-n[0]))
	}
	return mappings
}

// helpers is how many processes in full come before the program: process 1, and a bubblewrap outside.
func (st stage) helpers() int {
	if st.Bubblewrap == "" {
		return 1
	}
	return 2
}

// programs returns those of pids that are the program's: helpers may still be outside of its namespaces.
func (w watch) programs(pids []int) []int {
	if w.Box.Tier == Full {
		return pids[min(w.helpers(), len(pids)):]
	}
	return pids
}

// inside returns a thread that runs in the namespaces of the program: of the program itself, or of its
// descendants once it has ended. Of a process that has ended Linux tells nothing.
func (w watch) inside(pids []int) (t thread, ok bool) {
	for _, pid := range w.programs(pids) {
		if t, ok = running(pid); ok {
			return t, true
		}
	}
	return thread{}, false
}

// hidden returns a process that does not let this one see what it has open, 0 if there is none.
func (w watch) hidden(pids []int) int {
	pids = w.programs(pids) // bubblewrap may be another user's program
	if at := slices.IndexFunc(pids, hides); at >= 0 {
		return pids[at]
	}
	return 0
}

func hides(pid int) bool {
	t, ok := running(pid)
	if !ok {
		return false // one that ended holds nothing, though for any user but root it cannot be looked into
	}
	_, err := os.ReadDir("/proc/" + strconv.Itoa(t.id) + "/fd")
	return errors.Is(err, fs.ErrPermission)
}

// inMemory returns what files take that have a name and are in memory.
func (w watch) inMemory(pids []int) (sum int64) {
	if w.shm != nil {
		w.shm.note(pids)
		return w.shm.bytes()
	}
	t, ok := w.inside(pids)
	if w.Box.Tier != Full || !ok {
		return 0
	}
	root := "/proc/" + strconv.Itoa(t.id) + "/root"
	for _, dir := range memoryFolders {
		var now unix.Statfs_t
		if unix.Statfs(root+dir, &now) == nil {
			sum += int64(now.Blocks-now.Bfree)*int64(now.Bsize) + int64(now.Files-now.Ffree)*leastOfDescriptor
		}
	}
	return sum
}
