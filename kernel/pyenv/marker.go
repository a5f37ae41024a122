package pyenv

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"dsstar/notebook/disk"
)

// A marker says that an environment is complete, and from which inputs it was built.
type marker struct {
	Lock    string `json:"lock"`    // digest of the lock file and the recipe
	Version string `json:"version"` // of the base interpreter
	Base    string `json:"base"`    // the base interpreter
	Target  string `json:"target"`  // Base with its symbolic links resolved
}

const markerName = "dsstar.json"

func digest(lock []byte) string {
	return fmt.Sprintf("%x", sha256.Sum256(append(slices.Clone(lock), recipe...)))
}

// resolve returns path without links; "" if it leads nowhere.
func resolve(path string) string {
	target, _ := filepath.EvalSymlinks(path)
	return target
}

func writeMarker(dir string, m marker) error {
	data, _ := json.MarshalIndent(m, "", "  ") // texts
	return disk.WriteFile(filepath.Join(dir, markerName), append(data, '\n'))
}

func readMarker(dir string) (marker, error) {
	var m marker
	data, err := os.ReadFile(filepath.Join(dir, markerName))
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(data, &m)
}

// findReady looks for a usable environment made from o.Lock by any interpreter, as to find the
// interpreter for a new one takes subprocesses; "" if there is none.
func findReady(ctx context.Context, o Options) string {
	entries, _ := os.ReadDir(o.Dir)              // without the folder there is none
	for _, e := range slices.Backward(entries) { // the newest Python first
		dir := filepath.Join(o.Dir, e.Name())
		if m, err := readMarker(dir); err == nil && m.usable(ctx, dir, o) {
			return dir
		}
	}
	return ""
}

// usable reports whether the environment was made from o.Lock and still works. An environment
// depends on its base interpreter: if that is gone or has another minor version, it is
// unusable.
func (m marker) usable(ctx context.Context, dir string, o Options) bool {
	if m.Lock != digest(o.Lock) {
		return false
	}
	_, err := os.Stat(interpreter(dir))
	target := resolve(m.Base)
	if err != nil || target == "" || target == m.Target {
		return err == nil && target != ""
	}
	// The base has moved, as with every patch release from Homebrew. Ask once and record it.
	now, err := Describe(ctx, []string{interpreter(dir)}, o.Env, nil, nil)
	if err != nil || now.minor() != (Python{Version: m.Version}).minor() {
		return false
	}
	m.Target = target
	_ = writeMarker(dir, m) // a read-only cache only means asking again
	return true
}
