package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// List lists the data files of a folder, sorted by folder and name: regular
// files at any depth, also through a link to a file, without hidden ones and
// without the run folders of earlier questions. Folders that cannot be read are
// left out and named in unread. It ends with ctx's error when ctx does.
func List(ctx context.Context, root string) (files []File, unread []string, err error) {
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, nil, fmt.Errorf("list the data folder: %w", err)
	}
	// Not fs.WalkDir, which refuses names that are not UTF-8.
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		name := filepath.ToSlash(strings.TrimPrefix(path[len(root):], string(filepath.Separator)))
		if err != nil {
			if path == root || !errors.Is(err, fs.ErrPermission) {
				return err
			}
			unread = append(unread, name)
			return nil
		}
		if path != root && hidden(d.Name()) || d.IsDir() && isRun(path) {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if size, ok := regular(path, d); ok {
			files = append(files, File{Name: name, Size: size})
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("list the data folder: %w", err)
	}
	return files, unread, nil
}

func hidden(name string) bool { return strings.HasPrefix(name, ".") || name == "__pycache__" }

// regular returns the size of a regular file, or of the one a link points to.
// It is false for a folder, a broken link, a pipe: there is nothing to describe.
func regular(path string, d fs.DirEntry) (size int64, ok bool) {
	var info fs.FileInfo
	var err error
	switch {
	case d.Type().IsRegular():
		info, err = d.Info()
	case d.Type()&fs.ModeSymlink != 0:
		info, err = os.Stat(path)
	default:
		return 0, false
	}
	if err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	return info.Size(), true
}

// isRun reports whether a folder is what an earlier question left: it has the
// three names that every run folder has from its beginning.
func isRun(path string) bool {
	for _, name := range []string{"notebook.ipynb", "trace.jsonl", "files"} {
		if _, err := os.Lstat(filepath.Join(path, name)); err != nil {
			return false
		}
	}
	return true
}
