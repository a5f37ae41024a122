//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// held is what processes keep through descriptors without any folder showing it, in bytes: deleted
// files, and memory of Linux for descriptors, sockets and pipes.
type held struct {
	memory, disk int64
	sockets      map[string]bool // by the link targets in /proc/PID/fd
	mappings     int             // a lower bound if there are more than mostMappings
	unknown      string          // the link target of a descriptor that may keep anything; "" if there is none
}

// mostMappings and mostLocks bound what all processes have together: each takes memory of Linux,
// and reading them takes time.
const (
	mostMappings  = 1 << 20
	sizeOfMapping = 220     // approximately, in bytes
	mostLocks     = 1 << 16 // 13 MB
)

// knownDescriptor matches the link targets of descriptors that keep little memory, or memory that is
// counted. A process has the last two kinds while it enters the sandbox, and none after that.
var knownDescriptor = regexp.MustCompile(`^(/|socket:|pipe:|pidfd:|[a-z_]+:\[[0-9]+\]$|` +
	`anon_inode:(\[(eventpoll|eventfd|signalfd|timerfd|pidfd|landlock-ruleset)\]|seccomp notify)$)`)

// Linux does not report how full a Unix socket or a pipe is. Beyond fewBuffers, each counts as
// full.
const (
	fewBuffers        = 256
	bufferOfSocket    = 256 << 10 // 208 kB by default, and one last write; SO_SNDBUF is refused
	bufferOfPipe      = 64 << 10  // the default; larger ones are limited to 64 MB for each user
	leastOfDescriptor = 1 << 10   // for an empty file in memory
)

// An inode identifies a file.
type inode struct{ dev, ino uint64 }

// gone is the suffix that /proc adds to the path of a deleted file.
const gone = " (deleted)"

// heldBy returns what processes hold open or mapped. A file in transit between processes, in a Unix
// socket, cannot be seen.
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
	for _, pid := range pids { // open files first: their sizes are known
		eachDescriptor(pid, func(fd, target string) {
			sum.memory += leastOfDescriptor
			if !knownDescriptor.MatchString(target) {
				sum.unknown = target
			}
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
	sum.memory += int64(max(0, len(sum.sockets)-fewBuffers))*bufferOfSocket +
		int64(max(0, len(pipes)-fewBuffers))*bufferOfPipe
	for _, pid := range pids {
		if sum.mappings > mostMappings {
			break
		}
		sum.mappings += eachMapped(pid, func(path string, file inode, end int64) {
			if strings.HasSuffix(path, gone) && path != "/dev/zero"+gone { // anonymous shared memory
				count(file, path, end)
			}
		})
	}
	return sum
}

// eachDescriptor calls f with the path in /proc and the target of each descriptor of a process.
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

// locksOf returns how many locks processes have on parts of files.
func locksOf(pids []int) (locks int) {
	for _, pid := range pids {
		eachDescriptor(pid, func(fd, _ string) {
			info, _ := os.ReadFile(strings.Replace(fd, "/fd/", "/fdinfo/", 1)) // it may be closed
			locks += bytes.Count(info, []byte("\nlock:"))
		})
	}
	return locks
}

// eachOpen calls f for each regular file that a process has open.
func eachOpen(pid int, f func(path string, st *syscall.Stat_t)) {
	eachDescriptor(pid, func(fd, target string) {
		if st, ok := regular(fd, target); ok {
			f(target, st)
		}
	})
}

// regular returns the status of a descriptor, and whether it is a regular file.
func regular(fd, target string) (st *syscall.Stat_t, ok bool) {
	st = &syscall.Stat_t{}
	return st, strings.HasPrefix(target, "/") && syscall.Stat(fd, st) == nil &&
		st.Mode&unix.S_IFMT == unix.S_IFREG
}

// queued returns the bytes in the queues of network sockets.
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
			// the fifth field is tx_queue:rx_queue, the tenth the inode
			fields := strings.Fields(line)
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

// socketTables returns the tables of a folder such as /proc/net that are not empty. Even an empty
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

// eachMapped calls f for each mapped file of a process that is deleted or in shmFolder; end is the
// offset in the file at which the mapping ends. It returns the number of mappings.
func eachMapped(pid int, f func(path string, file inode, end int64)) (mappings int) {
	t, _ := running(pid) // it may have ended
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(t.id) + "/maps")
	for line := range bytes.Lines(b) {
		mappings++
		if !bytes.HasSuffix(line, []byte(gone+"\n")) && !bytes.Contains(line, []byte(shmFolder)) {
			continue // a quick test, as there are thousands
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

// programs returns pids without process 1 of the namespaces.
func (w watch) programs(pids []int) []int {
	if w.Box.Tier == Full {
		return pids[min(1, len(pids)):]
	}
	return pids
}

// inside returns a live thread in the namespaces of the program: of the program itself, or of a
// descendant once the program has ended.
func (w watch) inside(pids []int) (t thread, ok bool) {
	for _, pid := range w.programs(pids) {
		if t, ok = running(pid); ok {
			return t, true
		}
	}
	return thread{}, false
}

// hidden returns a process whose descriptors the guard cannot read, 0 if there is none.
func (w watch) hidden(pids []int) int {
	pids = w.programs(pids)
	if at := slices.IndexFunc(pids, hides); at >= 0 {
		return pids[at]
	}
	return 0
}

func hides(pid int) bool {
	t, ok := running(pid)
	if !ok {
		return false // an ended process holds nothing, though only root can read it
	}
	_, err := os.ReadDir("/proc/" + strconv.Itoa(t.id) + "/fd")
	return errors.Is(err, fs.ErrPermission)
}

// inMemory returns the size of named files in memory.
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
			sum += int64(now.Blocks-now.Bfree)*int64(now.Bsize) +
				int64(now.Files-now.Ffree)*leastOfDescriptor
		}
	}
	return sum
}
