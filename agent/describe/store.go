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
	*Describer
	root *files.Folder // the data; nil: there is nothing to know a file by
	asks string        // the hash of model and words; "": nothing is kept
}

// openStore opens the cache for the files of root. What cannot be read is not kept.
func (r *Describer) openStore(root *files.Folder) store {
	s := store{Describer: r, root: root}
	if r.Cache == nil || root == nil {
		return s
	}
	r.keys = make([]string, len(r.t.Task.Files))
	words, err := r.Prompts.Text(prompts.Analyzer{}, prompts.DebuggerScript{})
	if err != nil {
		return s
	}
	m := r.method
	sum := sha256.Sum256(fmt.Appendf(nil, "1\n%s\n%v %v %v\n%d\n%s", r.Cache.Model, m.Script, m.NoFamilies, m.NoDocuments, r.DescriptionChars, words))
	s.asks = hex.EncodeToString(sum[:])
	return s
}

// get takes the description of file i from the cache.
func (s store) get(d *record.Description, i int) bool {
	if s.asks == "" {
		return false
	}
	content, err := files.Sum(s.root, s.t.Task.Files[i])
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

func (r *Describer) path(i int) string {
	return filepath.Join(r.Cache.Dir, r.keys[i][:2], r.keys[i][2:]+".json")
}

// keep puts a description, with its script, into the cache. That it could not be
// kept costs the next run a call, no more.
func (r *Describer) keep(i int, d record.Description) {
	if r.keys == nil || r.keys[i] == "" {
		return
	}
	d.Failed = nil
	data, err := json.Marshal(d)
	if err != nil {
		return
	}
	path := r.path(i)
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
