package kernel

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"dsstar/notebook/disk"
)

// checkpointModule is the Python package of the kernel with checkpoints.
const checkpointModule = "undokernel"

// Its project, with tests of its own, is the folder undokernel.
//
//go:embed undokernel/undokernel/*.py
var checkpointFiles embed.FS

// launcher returns the index in Argv of the ipykernel module; 0 if there is none.
func launcher(s Spec) int {
	for i, arg := range s.Argv {
		if i > 0 && s.Argv[i-1] == "-m" &&
			(arg == "ipykernel" || arg == "ipykernel_launcher" || arg == checkpointModule) {
			return i
		}
	}
	return 0
}

// hasCheckpoints reports whether s comes from CheckpointSpec.
func (s Spec) hasCheckpoints() bool {
	at := launcher(s)
	return at > 0 && s.Argv[at] == checkpointModule
}

// CheckpointSpec returns a Spec of the same kernel with checkpoints: one that can freeze and resume
// copies of itself in milliseconds (docs/checkpoints.md). The Python package that does so, around
// the interpreter's ipykernel, is written to a subfolder of dir named after its content: packages
// of other versions stay, and several programs may write there at the same time. A Spec that has
// checkpoints already is returned as it is. The error is [errors.ErrUnsupported] on systems other
// than Linux, and for kernels not started as python -m ipykernel_launcher.
func CheckpointSpec(s Spec, dir string) (Spec, error) {
	switch {
	case runtime.GOOS != "linux":
		return s, fmt.Errorf("there are no checkpoints on %s: %w", runtime.GOOS, errors.ErrUnsupported)
	case launcher(s) == 0:
		return s, fmt.Errorf("checkpoints are for kernels that are started as python -m "+
			"ipykernel_launcher: %w", errors.ErrUnsupported)
	}
	if s.hasCheckpoints() {
		return s, nil
	}
	dir, err := filepath.Abs(dir) // cells run in other folders
	if err == nil {
		dir, err = writeCheckpointModule(dir)
	}
	if err != nil {
		return s, fmt.Errorf("write the kernel with checkpoints: %w", err)
	}
	s.Argv = slices.Clone(s.Argv)
	s.Argv[launcher(s)] = checkpointModule
	users, ok := s.Env["PYTHONPATH"]
	if !ok {
		users = "${PYTHONPATH}"
	}
	// The package restores the user's PYTHONPATH.
	env := map[string]string{"PYTHONPATH": dir + ":" + users, "UNDOKERNEL_PYTHONPATH": users}
	for name, value := range s.Env {
		if name != "PYTHONPATH" {
			env[name] = value
		}
	}
	s.Env = env
	return s, nil
}

// writeCheckpointModule makes sure that the package is in a subfolder of dir, and returns that
// folder.
func writeCheckpointModule(dir string) (string, error) {
	files, hash := map[string][]byte{}, sha256.New()
	project, err := fs.Sub(checkpointFiles, checkpointModule)
	if err != nil {
		return "", err
	}
	err = fs.WalkDir(project, checkpointModule,
		func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			files[path], err = fs.ReadFile(project, path)
			fmt.Fprintf(hash, "%s %d\n%s", path, len(files[path]), files[path])
			return err
		})
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	home := filepath.Join(dir, hex.EncodeToString(hash.Sum(nil))[:12])
	if _, err := os.Stat(home); errors.Is(err, fs.ErrNotExist) {
		if err := writeWhole(home, files); err != nil {
			return "", err
		}
	}
	return home, writeFiles(home, files) // rewrites only changed files
}

// writeWhole creates the folder path with all files, or not at all. It is no error if another
// process creates it first.
func writeWhole(path string, files map[string][]byte) error {
	part, err := os.MkdirTemp(filepath.Dir(path), ".part-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(part)
	if err := errors.Join(os.Chmod(part, 0o755), writeFiles(part, files)); err != nil {
		return err
	}
	if err := os.Rename(part, path); err != nil {
		if _, there := os.Stat(path); there != nil {
			return err
		}
	}
	return nil
}

func writeFiles(dir string, files map[string][]byte) error {
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := disk.WriteFile(path, content); err != nil {
			return err
		}
	}
	return nil
}
