package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// restore restores the state s of the folder. Unchanged files are not touched. Nothing must be
// writing to the folder. After an error the folder is partly restored; another restore, or emptying
// the folder, may follow.
//
// A changed file with the same inode is written in place: a frozen copy of the kernel that had it
// open or mapped then finds the old content through its own descriptor, which a new file under the
// old name would not give it. The write need not be atomic: a partly restored folder is never read,
// since after an error, or the death of this program, it is emptied and the cells run again.
//
// A file that also has a name outside the folder is not written in place, as that content is not
// ours. It gets a new inode.
func (c *copies) restore(ctx context.Context, s *state) error {
	if s.items == nil {
		return errors.New("put back the working folder: the state was dropped")
	}
	r := restoring{c, s, map[string]stamp{}, map[*content]bool{}}
	for _, do := range []func(context.Context) error{r.clear, r.fill, r.finish} {
		if err := do(ctx); err != nil {
			return fmt.Errorf("put back the working folder: %w", err)
		}
	}
	return nil
}

// restoring is one restore in progress.
type restoring struct {
	*copies
	state *state
	there map[string]stamp  // what is there already, perhaps with other content, by path
	wrote map[*content]bool // files that were written
}

// clear removes everything that is not in the state.
func (r *restoring) clear(ctx context.Context) error {
	if err := r.check(); err != nil {
		return err
	}
	info, err := r.root.Lstat(".")
	if err == nil {
		err = open700(r.root, ".", info)
	}
	if err != nil {
		return err
	}
	return r.clearFolder(ctx, r.root, ".")
}

func (r *restoring) clearFolder(ctx context.Context, dir *os.Root, path string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	names, err := namesIn(dir, 1<<30)
	if err != nil {
		return at(path, err)
	}
	for _, name := range names {
		if err := r.clearItem(ctx, dir, name, filepath.Join(path, name)); err != nil {
			return err
		}
	}
	return nil
}

func (r *restoring) clearItem(ctx context.Context, dir *os.Root, name, path string) error {
	info, err := dir.Lstat(name)
	if err != nil {
		return at(path, err)
	}
	if info.IsDir() {
		if err := open700(dir, name, info); err != nil {
			return at(path, err)
		}
		sub, err := dir.OpenRoot(name)
		if err != nil {
			return at(path, err)
		}
		err = r.clearFolder(ctx, sub, path)
		sub.Close()
		if err != nil {
			return err
		}
	}
	if r.same(dir, name, path, info) {
		s := stampOf(info)
		if x := r.state.items[path].content; x != nil && r.hides {
			if x.stamp.times() == s { // otherwise, or if it cannot be read, it is written anyway
				s, _ = r.summed(ctx, path, s)
			}
		}
		r.there[path] = s
		return ctx.Err()
	}
	return at(path, dir.Remove(name))
}

// same reports whether the entry at path is that of the state, apart from a file's content and the
// mode.
func (r *restoring) same(dir *os.Root, name, path string, info fs.FileInfo) bool {
	x, ok := r.state.items[path]
	if !ok || x.mode.Type() != info.Mode().Type() {
		return false
	}
	switch {
	case x.content != nil:
		is, was := stampOf(info), x.content.stamp
		return is.dev == was.dev && is.ino == was.ino
	case x.mode.Type() == fs.ModeSymlink:
		target, err := dir.Readlink(name)
		return err == nil && target == x.target && modified(info) == x.modified
	}
	return true
}

// fill creates what is missing and writes what has changed. Modes and times of folders come last,
// as this changes them.
func (r *restoring) fill(ctx context.Context) error {
	files := map[*content][]string{}
	for _, path := range slices.Sorted(maps.Keys(r.state.items)) { // folders before their entries
		x := r.state.items[path]
		_, there := r.there[path]
		var err error
		switch {
		case x.content != nil:
			files[x.content] = append(files[x.content], path)
		case there:
		case x.mode.IsDir():
			err = r.root.Mkdir(path, 0o700)
		default:
			if err = r.root.Symlink(x.target, path); err == nil {
				err = setModified(r.root, path, x.modified)
			}
		}
		if err != nil {
			return at(path, err)
		}
	}
	for x, names := range files {
		if err := r.file(ctx, x, names); err != nil {
			return at(names[0], err)
		}
	}
	return nil
}

// file makes all names of one file have the content x.
func (r *restoring) file(ctx context.Context, x *content, names []string) error {
	var have, miss []string
	untouched := true
	for _, name := range names {
		s, there := r.there[name]
		untouched = untouched && there && s == x.stamp
		if there {
			have = append(have, name)
		} else {
			miss = append(miss, name)
		}
	}
	if untouched {
		return nil
	}
	r.wrote[x] = true
	f, err := r.reopen(have)
	if err == nil && f == nil {
		for _, name := range have {
			if err := r.root.Remove(name); err != nil {
				return err
			}
		}
		have, miss = names[:1], names[1:]
		f, err = r.root.OpenFile(names[0], os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := r.write(ctx, f, x); err != nil {
		return err
	}
	for _, name := range miss {
		if err := r.root.Link(have[0], name); err != nil {
			return err
		}
	}
	like := r.state.items[names[0]]
	if err := f.Chmod(like.mode); err != nil {
		return err
	}
	return setModified(r.root, have[0], like.modified)
}

// reopen opens for writing the file that has exactly the given names; nil if it has others too, or
// if names is empty.
func (r *restoring) reopen(names []string) (*os.File, error) {
	if len(names) == 0 {
		return nil, nil
	}
	info, err := r.root.Lstat(names[0])
	if err != nil || !info.Mode().IsRegular() || stampOf(info).links != uint64(len(names)) {
		return nil, err
	}
	if info.Mode().Perm()&0o600 != 0o600 {
		if err := r.root.Chmod(names[0], 0o600); err != nil {
			return nil, err
		}
		if info, err = r.root.Lstat(names[0]); err != nil {
			return nil, err
		}
	}
	return openSame(r.root, names[0], os.O_WRONLY, stampOf(info))
}

// write writes x to f without truncating it first, as it may be mapped.
func (r *restoring) write(ctx context.Context, f *os.File, x *content) error {
	from, err := openSame(r.store, x.name, os.O_RDONLY, x.copy)
	if err != nil {
		return fmt.Errorf("its copy: %w", err)
	}
	defer from.Close()
	if err := f.Truncate(x.stamp.size); err != nil {
		return err
	}
	if x.cloned && clone(f, from) {
		return nil
	}
	return copyBytes(ctx, f, from, x.stamp.size)
}

// finish sets modes and times of folders, which remain readable as they were when the state was
// taken, and records the new stamps of the files that were written.
func (r *restoring) finish(ctx context.Context) error {
	var latest moment
	for path, x := range r.state.items {
		if !x.mode.IsDir() && !r.wrote[x.content] {
			continue
		}
		info, err := r.root.Lstat(path)
		if err != nil {
			return at(path, err)
		}
		if x.mode.IsDir() {
			if err := r.finishFolder(path, x, info); err != nil {
				return at(path, err)
			}
			continue
		}
		s := stampOf(info)
		s.sum = x.content.stamp.sum
		delete(r.known, x.content.stamp)
		r.known[s], x.content.stamp = x.content, s
		if latest.before(s.changed) {
			latest = s.changed
		}
	}
	info, err := r.root.Lstat(".")
	if err == nil {
		err = r.finishFolder(".", r.state.folder, info)
	}
	if err != nil {
		return err
	}
	// A change in the same tick of the clock would not show.
	return settle(ctx, latest)
}

func (r *restoring) finishFolder(path string, x item, info fs.FileInfo) error {
	if modified(info) != x.modified {
		if err := setModified(r.root, path, x.modified); err != nil {
			return err
		}
	}
	if info.Mode() != x.mode {
		return r.root.Chmod(path, x.mode)
	}
	return nil
}

// open700 gives the owner all permissions on a folder; finish restores the mode.
func open700(dir *os.Root, name string, info fs.FileInfo) error {
	if info.Mode().Perm()&0o700 == 0o700 {
		return nil
	}
	return dir.Chmod(name, info.Mode()|0o700)
}
