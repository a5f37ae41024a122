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
const checkpointModule = "dsstar_kernel"

//go:embed dsstar_kernel/*.py
var checkpointFiles embed.FS

// launcher returns where in Argv the module of ipykernel is; 0 for nowhere.
func launcher(s Spec) int {
	for i, arg := range s.Argv {
		if i > 0 && s.Argv[i-1] == "-m" &&
			(arg == "ipykernel" || arg == "ipykernel_launcher" || arg == checkpointModule) {
			return i
		}
	}
	return 0
}

// hasCheckpoints reports whether the kernel is the one that CheckpointSpec makes.
func (s Spec) hasCheckpoints() bool {
	at := launcher(s)
	return at > 0 && s.Argv[at] == checkpointModule
}

// CheckpointSpec returns the Spec of the same kernel with checkpoints, to which
// Rollback goes back in milliseconds: see docs/checkpoints.md for the messages. It
// writes the package that does so, around the ipykernel of the interpreter, to a
// folder of dir that is named by its content, so that those of other versions of
// this program stay, and that other programs may write at the same time. A Spec
// that has them already stays as it is. The error is [errors.ErrUnsupported] except on Linux, for a
// kernel that is started as python -m ipykernel_launcher.
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
	dir, err := filepath.Abs(dir) // cells run elsewhere
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
	// The package puts back what the user had.
	env := map[string]string{"PYTHONPATH": dir + ":" + users, "DSSTAR_PYTHONPATH": users}
	for name, value := range s.Env {
		if name != "PYTHONPATH" {
			env[name] = value
		}
	}
	s.Env = env
	return s, nil
}

// writeCheckpointModule makes sure that the package is in a folder of dir, which
// it returns.
func writeCheckpointModule(dir string) (string, error) {
	files, hash := map[string][]byte{}, sha256.New()
	err := fs.WalkDir(checkpointFiles, checkpointModule,
		func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			files[path], err = checkpointFiles.ReadFile(path)
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
	return home, writeFiles(home, files) // nothing, unless somebody has changed them
}

// writeWhole makes the folder path with files, all of them or none. It is no
// error if somebody else is quicker.
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
