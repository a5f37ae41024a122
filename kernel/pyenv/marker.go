package pyenv

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/renameio/v2/maybe"
)

// A marker says that an environment is complete, and from which inputs it was built.
type marker struct {
	Lock    string    `json:"lock"`    // digest of the lock file and the recipe
	Version string    `json:"version"` // of the base interpreter
	Base    string    `json:"base"`    // the base interpreter
	Target  string    `json:"target"`  // Base with its symbolic links resolved
	Tool    string    `json:"tool"`    // uv or pip
	Made    time.Time `json:"made"`
}

func markerPath(dir string) string { return filepath.Join(dir, "dsstar.json") }

func newMarker(lock []byte, base Interpreter, tool string) marker {
	return marker{
		Lock: digest(lock), Version: base.Version, Base: base.Path, Target: resolve(base.Path),
		Tool: tool, Made: time.Now().UTC().Truncate(time.Second),
	}
}

func digest(lock []byte) string {
	sum := sha256.Sum256(append(slices.Clone(lock), recipe...))
	return hex.EncodeToString(sum[:])
}

// resolve returns path without links; "" if it leads nowhere.
func resolve(path string) string {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	return target
}

func writeMarker(dir string, m marker) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return maybe.WriteFile(markerPath(dir), append(data, '\n'), 0o644)
}

func readMarker(dir string) (marker, error) {
	var m marker
	data, err := os.ReadFile(markerPath(dir))
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(data, &m)
}

// findReady looks for a usable environment made from o.Lock by any interpreter: to find the
// interpreter for a new one takes subprocesses.
func findReady(ctx context.Context, o Options) (dir string, ok bool) {
	// Newest Python first. The error is for a malformed pattern only.
	dirs, _ := filepath.Glob(filepath.Join(globEscape(o.Dir), "python-*",
		filepath.Base(markerPath(""))))
	slices.Sort(dirs)
	slices.Reverse(dirs)
	for _, path := range dirs {
		dir := filepath.Dir(path)
		if m, err := readMarker(dir); err == nil && m.usable(ctx, dir, o) {
			return dir, true
		}
	}
	return "", false
}

// usable reports whether the environment was made from o.Lock and still works. An environment
// depends on its base interpreter: if that is gone or has another minor version, it is
// unusable.
func (m marker) usable(ctx context.Context, dir string, o Options) bool {
	if m.Lock != digest(o.Lock) {
		return false
	}
	if _, err := os.Stat(interpreter(dir)); err != nil {
		return false
	}
	target := resolve(m.Base)
	if target == "" {
		return false
	}
	if target == m.Target {
		return true
	}
	// The base has moved, as with every patch release from Homebrew. Ask once and record it.
	out, err := Ask(ctx, o.Env, interpreter(dir), "import sys; print('%d.%d' % sys.version_info[:2])")
	if err != nil || strings.TrimSpace(string(out)) != (Interpreter{Version: m.Version}).minor() {
		return false
	}
	m.Target = target
	_ = writeMarker(dir, m) // a read-only cache only means asking again
	return true
}

// globEscape returns a pattern that matches dir only.
func globEscape(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}
