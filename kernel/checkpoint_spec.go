package kernel

import (
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// freezer is the Python package of a kernel that freezes copies of itself.
//
//go:embed dsstar_kernel/*.py
var freezer embed.FS

const freezerName = "dsstar_kernel"

// Freezes reports whether [CheckpointSpec] can make of s a kernel that freezes copies
// of itself: on Linux, of one that is started as python -m ipykernel_launcher.
func Freezes(s Spec) bool { return runtime.GOOS == "linux" && launcher(s) >= 0 }

// launcher returns where in Argv the module of ipykernel is; -1 for nowhere.
func launcher(s Spec) int {
	return slices.IndexFunc(s.Argv, func(arg string) bool { return arg == "ipykernel" || arg == "ipykernel_launcher" })
}

// CheckpointSpec returns the Spec of the same kernel, except that it can freeze
// copies of itself, to which Rollback goes back in milliseconds (docs/checkpoints.md).
// Its code, a Python package around the ipykernel that the interpreter has, is
// written to a folder in dir that bears the hash of it, if it is not there yet.
// The error wraps [errors.ErrUnsupported] where [Freezes] reports false.
func CheckpointSpec(s Spec, dir string) (Spec, error) {
	at := launcher(s)
	switch {
	case runtime.GOOS != "linux":
		return s, fmt.Errorf("checkpoints of the session need Linux: %w", errors.ErrUnsupported)
	case at < 1 || s.Argv[at-1] != "-m":
		return s, fmt.Errorf("checkpoints of the session need a kernel that starts as python -m ipykernel_launcher: %w", errors.ErrUnsupported)
	}
	folder, err := unpack(freezer, freezerName, dir)
	if err != nil {
		return s, fmt.Errorf("write the kernel with checkpoints: %w", err)
	}
	s.Argv = slices.Clone(s.Argv)
	s.Argv[at] = freezerName
	users, ok := s.Env["PYTHONPATH"]
	if !ok {
		users = "${PYTHONPATH}"
	}
	env := map[string]string{"PYTHONPATH": folder + string(os.PathListSeparator) + users, "DSSTAR_PYTHONPATH": users}
	s.Env = maps.Clone(s.Env)
	if s.Env == nil {
		s.Env = map[string]string{}
	}
	maps.Copy(s.Env, env)
	return s, nil
}

// unpack writes the folder name of files into one in dir that is named by the
// hash of its content, and returns that. It is there whole or not at all.
func unpack(files embed.FS, name, dir string) (string, error) {
	hash := sha256.New()
	err := fs.WalkDir(files, name, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := files.ReadFile(path)
		fmt.Fprintf(hash, "%s %d\n%s", path, len(text), text)
		return err
	})
	if err != nil {
		return "", err
	}
	folder, err := filepath.Abs(filepath.Join(dir, fmt.Sprintf("%s-%.6x", strings.ReplaceAll(name, "_", "-"), hash.Sum(nil))))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(folder); err == nil {
		return folder, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	part, err := os.MkdirTemp(dir, ".part-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(part)
	if err := os.CopyFS(part, files); err != nil {
		return "", err
	}
	if err := os.Chmod(part, 0o755); err != nil {
		return "", err
	}
	// Another program may have been quicker, with the same files.
	if err := os.Rename(part, folder); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return folder, nil
}
