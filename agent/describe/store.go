package describe

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/describe/profile"
	"dsstar/agent/files"
	"dsstar/agent/record"
	"dsstar/notebook/disk"
)

// A Cache keeps profiles for later runs, a file each, by the content of the data file, and by
// what else its profile tells of: some of its name, and of what lies beside it.
type Cache struct {
	Dir    string // made when it is needed
	Python string // tells the Python that profiles files from others, which may lack packages
}

// A store is the cache as one run uses it. Without a cache it keeps nothing.
type store struct {
	dir   string
	looks string   // the hash of the program that profiles; "": nothing is kept
	names []string // of the task's files
	all   string   // the hash of their names and sizes
	sums  []string // their contents; "": it is not kept
}

// openStore opens the cache.
func (r *Describer) openStore() store {
	n := len(r.t.Task.Files)
	s := store{names: make([]string, n), sums: make([]string, n)}
	for i, f := range r.t.Task.Files {
		s.names[i] = f.Name
	}
	if r.Cache == nil {
		return s
	}
	s.dir, s.all = r.Cache.Dir, hash(r.t.Task.Files)
	s.looks = hash(r.Cache.Python, r.profileSeconds(), profile.Program())
	return s
}

func hash(parts ...any) string {
	sum := sha256.Sum256([]byte(strings.TrimSpace(fmt.Sprintln(parts...))))
	return hex.EncodeToString(sum[:])
}

// read takes note of the content of file i. root is the data folder, nil if it cannot be read:
// then there is nothing to know the file by.
func (s store) read(root *files.Folder, f record.File, i int) {
	if s.looks == "" || root == nil {
		return
	}
	if sum, err := files.Sum(root, f); err == nil {
		for _, c := range root.Companions(f) {
			sum += " " + ending(c.Name) // how a database is opened depends on what is beside it
		}
		for _, page := range []string{".cpg", ".CPG"} { // the encoding of a table of dBASE
			if base, ok := strings.CutSuffix(strings.ToLower(f.Name), ".dbf"); ok {
				encoding, _ := files.Sum(root, record.File{Name: f.Name[:len(base)] + page})
				sum += " " + encoding // "": there is none
			}
		}
		if strings.Contains(path.Dir(f.Name), "=") { // whether all files of its folder are one table
			sum += " " + s.all
		}
		s.sums[i] = sum
	}
}

// profile takes the profile of file i from the cache.
func (s store) profile(i int) (p profile.Profile, ok bool) {
	if s.sums[i] == "" {
		return p, false
	}
	data, err := disk.ReadFile(s.path(i), disk.MaxDocument)
	ok = err == nil && json.Unmarshal(data, &p) == nil && p.Format != ""
	return p, ok
}

// path is where the profile of file i is kept.
func (s store) path(i int) string {
	name := s.names[i]
	keys, lock := strings.Contains(path.Dir(name), "="), strings.HasPrefix(path.Base(name), "~$")
	if !keys && !lock {
		name = ending(name)
	}
	key := hash(s.looks, brief.Python(name), s.sums[i])
	return filepath.Join(s.dir, key[:2], key[2:]+".json")
}

// keepProfile puts a profile into the cache, unless it was not read to its end or calls were not
// tried: the next run may have more time or packages. That it could not be kept costs the next run
// its making, no more.
func (s store) keepProfile(i int, p profile.Profile) {
	if p.Problem != "" || p.Untried || s.sums[i] == "" {
		return
	}
	data, err := json.Marshal(p)
	if err != nil {
		return
	}
	at := s.path(i)
	if os.MkdirAll(filepath.Dir(at), 0o700) != nil {
		return
	}
	// Whole or not at all, but without waiting for the disk as a notebook does: a
	// file that a power cut has torn is not read.
	part, err := os.CreateTemp(filepath.Dir(at), "part-")
	if err != nil {
		return
	}
	_, err = part.Write(data)
	if part.Close() != nil || err != nil || os.Rename(part.Name(), at) != nil {
		_ = os.Remove(part.Name())
	}
}
