package describe

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"dsstar/agent/files"
	"dsstar/agent/record"
	"dsstar/notebook/disk"
	"dsstar/prompts"
)

// A Cache keeps descriptions for later runs, a file each, by the content and
// name of the data file, the model, and the words that it was asked with.
type Cache struct {
	Dir   string // made when it is needed
	Model string // the analyzer's, with whatever tells it from others
}

// A store is the cache as one run uses it. Without a cache it keeps nothing.
type store struct {
	dir  string
	asks string   // the hash of model and words; "": nothing is kept
	keys []string // of the task's files; "": it is not kept
}

// openStore opens the cache.
func (r *Describer) openStore() store {
	if r.Cache == nil {
		return store{}
	}
	words, err := r.Prompts.Text(prompts.Analyzer{}, prompts.DebuggerScript{})
	if err != nil {
		return store{}
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "1\n%s\n%v\n%d\n%s", r.Cache.Model,
		r.method.Script, r.DescriptionChars, words))
	return store{r.Cache.Dir, hex.EncodeToString(sum[:]), make([]string, len(r.t.Task.Files))}
}

// get takes the description of file i from the cache. root is the data folder, nil if it
// cannot be read: then there is nothing to know the file by.
func (s store) get(root *files.Folder, f record.File, d *record.Description, i int) bool {
	if s.asks == "" || root == nil {
		return false
	}
	content, err := files.Sum(root, f)
	if err != nil {
		return false
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s", s.asks, d.File, content))
	s.keys[i] = hex.EncodeToString(sum[:])
	data, err := disk.ReadFile(s.path(i), disk.MaxDocument)
	if err != nil {
		return false
	}
	var kept record.Description
	if json.Unmarshal(data, &kept) != nil || kept.File != d.File || kept.Text == "" {
		return false // a torn file, or somebody else's
	}
	*d = kept
	d.Cached = true
	return true
}

func (s store) path(i int) string {
	return filepath.Join(s.dir, s.keys[i][:2], s.keys[i][2:]+".json")
}

// keep puts a description, with its script, into the cache. That it could not be
// kept costs the next run a call, no more.
func (s store) keep(i int, d record.Description) {
	if s.keys == nil || s.keys[i] == "" {
		return
	}
	d.Failed = nil
	data, err := json.Marshal(d)
	if err != nil {
		return
	}
	path := s.path(i)
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	// Whole or not at all, but without waiting for the disk as a notebook does: a
	// file that a power cut has torn is not read.
	part, err := os.CreateTemp(filepath.Dir(path), "part-")
	if err != nil {
		return
	}
	_, err = part.Write(data)
	if part.Close() != nil || err != nil || os.Rename(part.Name(), path) != nil {
		_ = os.Remove(part.Name())
	}
}
