package describe

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"dsstar/agent/describe/profile"
	"dsstar/agent/files"
	"dsstar/agent/record"
	"dsstar/notebook/disk"
)

// A Cache keeps profiles for later runs, a file each, by the content of the data file, and by
// what else its profile tells of: its name, and what lies beside it.
type Cache struct {
	Dir    string // made when it is needed
	Python string // tells the Python that profiles files from others, which may lack packages
}

// keptAt returns where the profile of a file is kept: "" without a cache, and for data that change
// without their file or cannot be read.
func (r *Describer) keptAt(root files.Folder, f record.File) string {
	if r.Cache == nil || files.ChangesUnseen(f.Name) || !r.t.Method.Profiles() {
		return ""
	}
	sum, err := root.Sum(f.Name)
	if err != nil {
		return ""
	}
	if r.program == "" {
		r.program = hash(r.Cache.Python, r.bounds(0).File, profile.Program())
		r.listing = hash(r.t.Task.Files)
	}
	key := []string{r.program, sum, path.Base(f.Name)}
	for _, c := range f.With {
		key = append(key, path.Base(c.Name)) // how a database is opened depends on what is beside it
	}
	if strings.Contains(f.Name, "=") { // a part of a table that folders make
		key = append(key, f.Name, r.listing)
	}
	name := hash(key)
	return filepath.Join(r.Cache.Dir, name[:2], name[2:]+".json")
}

func hash(parts ...any) string {
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%#v", parts)))
}

// keptProfile takes a profile from where it is kept.
func keptProfile(at string) (p profile.Profile, ok bool) {
	data, err := disk.ReadFile(at, disk.MaxDocument)
	ok = err == nil && json.Unmarshal(data, &p) == nil && p.Format != ""
	return p, ok
}

// keep puts a profile where it is kept, unless it was not read to its end or calls were not tried:
// the next run may have more time or packages. That it could not be kept costs the next run its
// making, no more.
func keep(at string, p profile.Profile) {
	data, err := json.Marshal(p)
	if at == "" || p.Problem != "" || p.Untried || err != nil {
		return
	}
	if os.MkdirAll(filepath.Dir(at), 0o700) == nil {
		_ = os.WriteFile(at, data, 0o600) // one that a power cut has torn is not read
	}
}
