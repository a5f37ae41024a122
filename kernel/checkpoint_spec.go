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

	"dsstar/notebook"
)

// checkpointModule is the Python package of the kernel with checkpoints.
const checkpointModule = "dsstar_kernel"

//go:embed dsstar_kernel/*.py
var checkpointFiles embed.FS

// CheckpointSpec returns a Spec that starts the ipykernel of the given Python
// interpreter with checkpoints: see docs/checkpoints.md for the messages. It
// writes the package that does so to a folder of dir that is named by its
// content, so that those of other versions of this program stay, and that other
// programs may write at the same time. There are checkpoints on Linux only: the
// error is [errors.ErrUnsupported] elsewhere.
func CheckpointSpec(python, dir string) (Spec, error) {
	if runtime.GOOS != "linux" {
		return Spec{}, fmt.Errorf("a kernel with checkpoints on %s: %w", runtime.GOOS, errors.ErrUnsupported)
	}
	dir, err := filepath.Abs(dir) // cells run elsewhere
	if err == nil {
		dir, err = writeCheckpointModule(dir)
	}
	if err != nil {
		return Spec{}, fmt.Errorf("write the kernel with checkpoints: %w", err)
	}
	return Spec{
		Name: "python3-checkpoints", DisplayName: "Python 3 (checkpoints)", Language: "python",
		Argv: []string{python, "-m", checkpointModule, "-f", "{connection_file}", "--HistoryManager.enabled=False"},
		// The package puts back what the user had.
		Env: map[string]string{"PYTHONPATH": dir + ":${PYTHONPATH}", "DSSTAR_PYTHONPATH": "${PYTHONPATH}"},
	}, nil
}

// writeCheckpointModule makes sure that the package is in a folder of dir, which
// it returns.
func writeCheckpointModule(dir string) (string, error) {
	files, hash := map[string][]byte{}, sha256.New()
	err := fs.WalkDir(checkpointFiles, checkpointModule, func(path string, d fs.DirEntry, err error) error {
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
		if err := notebook.WriteFile(path, content); err != nil {
			return err
		}
	}
	return nil
}
