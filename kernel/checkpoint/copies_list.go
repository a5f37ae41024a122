package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// listing collects the present state of a folder.
type listing struct {
	copies *copies
	items  map[string]item
	fresh  map[stamp]*content // contents that are not copied yet
	sums   map[stamp]stamp    // stamps with their sums, by the same stamps without
	read   int64              // bytes read for sums
}

// folder adds the entries of dir, which is at path.
func (l *listing) folder(ctx context.Context, dir *os.Root, path string, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if depth > maxNested {
		return fmt.Errorf("it has folders nested more than %d deep", maxNested)
	}
	names, err := namesIn(dir, maxCopied)
	if err != nil {
		return at(path, err)
	}
	if len(l.items)+len(names) > maxCopied {
		return fmt.Errorf("it holds more than %d files", maxCopied)
	}
	slices.Sort(names) // so that errors are the same each time
	for _, name := range names {
		if err := l.add(ctx, dir, name, filepath.Join(path, name), depth); err != nil {
			return err
		}
	}
	return nil
}

func (l *listing) add(ctx context.Context, dir *os.Root, name, path string, depth int) error {
	info, err := dir.Lstat(name)
	if err != nil {
		return at(path, err)
	}
	x := item{mode: info.Mode(), modified: modified(info)}
	switch info.Mode().Type() {
	case 0:
		s, err := l.stamp(ctx, stampOf(info), path)
		if err != nil {
			return err
		}
		x.content = l.content(s, path)
	case fs.ModeSymlink:
		x.target, err = dir.Readlink(name)
	case fs.ModeDir:
		var sub *os.Root
		if sub, err = dir.OpenRoot(name); err == nil {
			defer sub.Close()
			if err := l.folder(ctx, sub, path, depth+1); err != nil {
				return err
			}
		}
	default:
		err = fmt.Errorf("is %s, which cannot be copied", kind(info.Mode()))
	}
	l.items[path] = x
	return at(path, err)
}

// stamp returns s, the stamp of the file at path, with the hash of its content if that is needed.
func (l *listing) stamp(ctx context.Context, s stamp, path string) (stamp, error) {
	if !l.copies.hides {
		return s, nil
	}
	if with, ok := l.sums[s]; ok {
		return with, nil
	}
	if l.read += s.size; l.read > l.copies.limit { // before it is read: it may be sparse
		return s, l.copies.overLimit(l.read)
	}
	with, err := l.copies.summed(ctx, path, s)
	l.sums[s] = with
	return with, at(path, err)
}

func (l *listing) content(s stamp, path string) *content {
	for _, known := range []map[stamp]*content{l.copies.known, l.fresh} {
		if x := known[s]; x != nil {
			return x
		}
	}
	x := &content{stamp: s, path: path}
	l.fresh[s] = x
	return x
}

// namesIn returns the names in a folder. It stops once it has more than most of them.
func namesIn(dir *os.Root, most int) ([]string, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []string
	for len(all) <= most {
		names, err := f.Readdirnames(1000)
		all = append(all, names...)
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// at adds the path of a file to an error.
func at(path string, err error) error {
	if err == nil {
		return nil
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err // its path is a part of path
	}
	return fmt.Errorf("%q: %w", path, err)
}

func kind(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "of a kind of its own"
}
