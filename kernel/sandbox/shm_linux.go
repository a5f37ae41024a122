//go:build amd64 || arm64

package sandbox

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"syscall"
)

const shmFolder = "/dev/shm"

// shared tracks the files that processes of a box create in the machine's /dev/shm, among those of
// other programs. A file belongs to the session if one of its processes has it open or mapped when
// the guard looks; other files are missed.
type shared struct {
	before map[inode]bool // files from before the start

	mu   sync.Mutex
	ours map[inode]bool
}

// newShared must be called before the processes start.
func newShared() *shared {
	s := &shared{before: map[inode]bool{}, ours: map[inode]bool{}}
	s.each(func(_ *os.Root, _ string, file inode, _ int64) { s.before[file] = true })
	return s
}

// each calls f for all files and folders, folders after their contents. It follows no links.
func (s *shared) each(f func(root *os.Root, name string, file inode, bytes int64)) {
	root, err := os.OpenRoot(shmFolder)
	if err != nil {
		return // there is none
	}
	defer root.Close()
	var names []string
	_ = fs.WalkDir(root.FS(), ".", func(name string, _ fs.DirEntry, err error) error {
		if err == nil && name != "." {
			names = append(names, name)
		}
		return nil // files may come and go
	})
	for i := len(names) - 1; i >= 0; i-- {
		if info, err := root.Lstat(names[i]); err == nil {
			st := info.Sys().(*syscall.Stat_t)
			f(root, names[i], inode{uint64(st.Dev), st.Ino}, st.Blocks*512)
		}
	}
}

// note records the files that processes hold open or mapped.
func (s *shared) note(pids []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	add := func(path string, file inode) {
		if strings.HasPrefix(path, shmFolder+"/") && !s.before[file] {
			s.ours[file] = true
		}
	}
	for _, pid := range pids {
		eachOpen(pid, func(path string, st *syscall.Stat_t) { add(path, inode{uint64(st.Dev), st.Ino}) })
		eachMapped(pid, func(path string, file inode, _ int64) { add(path, file) })
	}
}

// bytes returns the size of the session's files.
func (s *shared) bytes() (sum int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.each(func(_ *os.Root, _ string, file inode, bytes int64) {
		if s.ours[file] {
			sum += bytes + leastOfDescriptor
		}
	})
	return sum
}

// remove removes the session's files, and new folders that become empty.
func (s *shared) remove() {
	s.mu.Lock()
	defer s.mu.Unlock()
	emptied := map[string]bool{}
	s.each(func(root *os.Root, name string, file inode, _ int64) {
		if s.ours[file] || emptied[name] && !s.before[file] {
			if root.Remove(name) == nil {
				emptied[path.Dir(name)] = true
			}
		}
	})
}
