package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"dsstar/notebook/disk"
)

const (
	maxCopied = 10_000 // files, folders and links in a folder of which copies are kept
	maxNested = 100    // folders in each other; each costs a descriptor while it is looked at
)

// errOverLimit is wrapped by the error of take if there is no room. Dropping another state may make
// some.
var errOverLimit = errors.New("over the limit")

// copies keeps the states of a folder at several moments, to restore them exactly: names, contents,
// links, hard links between its files, empty folders, permission bits and modification times.
// Owners and extended attributes are not kept.
//
// Untrusted code may write to the folder: the targets of its links are neither read nor written. A
// file counts as unchanged while its inode, size and times are the same, including the time of the
// last change (ctime), which programs cannot set; so it is copied once for all states that have it.
// Where a change through a memory map changes no time (tmpfs, overlayfs over it), a hash of the
// content is compared as well, for which every file is read each time.
//
// The copies are a cache for the life of this program: nothing is synced, and the next program
// removes what a killed one has left. Only one goroutine at a time may use them.
type copies struct {
	folder string
	root   *os.Root // folder
	beside *os.Root // that the store is in
	name   string   // of store
	store  *os.Root // nil until the first copy
	limit  int64
	held   int64 // bytes of the copies that are no clones
	made   int   // copies so far
	plain  bool  // cloning has failed: it is another file system, or one that cannot
	known  map[stamp]*content

	hides bool         // changes through memory maps do not show
	seed  maphash.Seed // of the sums: nobody can make another content with the same one
}

// state is the content of a folder at a moment.
type state struct {
	folder item            // but for what it holds
	items  map[string]item // by path in the folder; nil once dropped
}

// item is a file, a folder or a link.
type item struct {
	mode     fs.FileMode
	modified moment
	target   string   // of a link
	content  *content // of a file; hard links to one file share it
}

// content is the content of a file, shared by all states that have it.
type content struct {
	path   string // of a file that held it
	stamp  stamp  // of the file in the folder that holds it, if that is unchanged
	name   string // of the copy in the store
	copy   stamp  // of the copy
	cloned bool
	uses   int // items of states
}

// stamp identifies a file and its version.
type stamp struct {
	dev, ino, links   uint64
	size              int64
	modified, changed moment
	sum               uint64 // of the content, where changes can be hidden
}

// moment is a time of a file system, at its full precision.
type moment struct{ sec, nsec int64 }

// times returns s without the sum.
func (s stamp) times() stamp {
	s.sum = 0
	return s
}

func modified(info fs.FileInfo) moment {
	return moment{info.ModTime().Unix(), int64(info.ModTime().Nanosecond())}
}

func (m moment) before(n moment) bool {
	return m.sec < n.sec || m.sec == n.sec && m.nsec < n.nsec
}

// newCopies returns the copies of a folder, which must not be replaced by another, in the folder
// store outside of it. Anything in store is removed. It is created when first needed, and should be
// on the same file system, which may then share blocks. limit is the size of all copies together in
// bytes, without blocks shared with the folder. The caller must close the copies.
func newCopies(folder, store string, limit int64) (*copies, error) {
	beside, err := os.OpenRoot(filepath.Dir(store))
	if err != nil {
		return nil, err
	}
	name := filepath.Base(store)
	if err := disk.RemoveFolderIn(beside, name); err != nil {
		return nil, errors.Join(fmt.Errorf("remove old copies: %w", err), beside.Close())
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, errors.Join(err, beside.Close())
	}
	hides, err := hidesChanges(root)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("try a memory map in %s: %w", folder, err), root.Close(), beside.Close())
	}
	return &copies{
		folder: folder, root: root, beside: beside, name: name, limit: limit,
		known: map[stamp]*content{}, hides: hides, seed: maphash.MakeSeed(),
	}, nil
}

// close removes all copies.
func (c *copies) close() error {
	err := c.root.Close()
	if c.store != nil {
		err = errors.Join(err, c.store.Close(), disk.RemoveFolderIn(c.beside, c.name))
		c.store = nil
	}
	return errors.Join(err, c.beside.Close())
}

// take copies the present state of the folder. Nothing may be writing to it. The error says, for a
// person, why the folder cannot be copied; earlier states remain.
func (c *copies) take(ctx context.Context) (*state, error) {
	s, err := c.look(ctx)
	if err != nil {
		return nil, fmt.Errorf("copy the working folder: %w", err)
	}
	return s, nil
}

func (c *copies) look(ctx context.Context) (*state, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	info, err := c.root.Lstat(".")
	if err != nil {
		return nil, err
	}
	l := listing{copies: c, items: map[string]item{}, fresh: map[stamp]*content{}, sums: map[stamp]stamp{}}
	if err := l.folder(ctx, c.root, ".", 0); err != nil {
		return nil, err
	}
	if err := c.keep(ctx, l.fresh); err != nil {
		return nil, err
	}
	for _, x := range l.items {
		if x.content != nil {
			x.content.uses++
		}
	}
	return &state{item{mode: info.Mode(), modified: modified(info)}, l.items}, nil
}

// check demands that the folder has not been replaced, and that the times of its files are reliable.
func (c *copies) check() error {
	there, err := os.Stat(c.folder)
	if err != nil {
		return err
	}
	held, err := c.root.Stat(".")
	if err != nil {
		return err
	}
	if !os.SameFile(there, held) {
		return fmt.Errorf("%s has been replaced by another folder", c.folder)
	}
	return reliable(c.root)
}

// listing is the present state of a folder in the making.
type listing struct {
	copies *copies
	items  map[string]item
	fresh  map[stamp]*content // of which there is no copy yet
	sums   map[stamp]stamp    // stamps with their sums, by those without
	read   int64              // bytes that were read for sums
}

// folder adds the entries of dir, which is at path.
func (l *listing) folder(ctx context.Context, dir *os.Root, path string, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if depth > maxNested {
		return fmt.Errorf("it has more than %d folders in each other", maxNested)
	}
	names, err := namesIn(dir, maxCopied)
	if err != nil {
		return at(path, err)
	}
	if len(l.items)+len(names) > maxCopied {
		return fmt.Errorf("it holds more than %d files", maxCopied)
	}
	slices.Sort(names) // for an error that is the same each time
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

// stamp returns s, the stamp of the file at path, with the hash of its content where that is needed.
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

// keep copies all contents, or none.
func (c *copies) keep(ctx context.Context, fresh map[stamp]*content) error {
	if len(fresh) == 0 {
		return nil
	}
	var latest moment
	var rest int64 // bytes to copy
	for s := range fresh {
		rest += s.size
		if latest.before(s.changed) {
			latest = s.changed
		}
	}
	// A change in the same tick of the clock would not show.
	err := settle(ctx, latest)
	if err == nil && c.store == nil {
		err = c.makeStore()
	}
	if err != nil {
		return err
	}
	for s, x := range fresh {
		if err := c.copy(ctx, x, rest); err != nil {
			for _, x := range fresh {
				c.discard(x)
			}
			return err
		}
		rest -= s.size
		c.known[s] = x
	}
	return nil
}

func (c *copies) makeStore() (err error) {
	if err := c.beside.Mkdir(c.name, 0o700); err != nil { // an error, should there be a link by now
		return err
	}
	c.store, err = disk.OpenFolderIn(c.beside, c.name)
	return err
}

// copy copies x; rest is its size and that of all that are to follow.
func (c *copies) copy(ctx context.Context, x *content, rest int64) error {
	from, err := openSame(c.root, x.path, os.O_RDONLY, x.stamp)
	if err != nil {
		return at(x.path, err)
	}
	defer from.Close()
	c.made++
	name := strconv.Itoa(c.made)
	to, err := c.store.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer to.Close()
	x.name, x.cloned = name, !c.plain && clone(to, from)
	if !x.cloned {
		c.plain = true
		sum := c.held + rest
		c.held += x.stamp.size // for discard
		if sum > c.limit {
			return c.overLimit(sum)
		}
		if err := copyBytes(ctx, to, from, x.stamp.size); err != nil {
			return at(x.path, err)
		}
	}
	if err := demand(from, x.stamp); err != nil {
		return at(x.path, err)
	}
	info, err := to.Stat()
	if err == nil {
		x.copy = stampOf(info)
	}
	return err
}

func (c *copies) overLimit(n int64) error {
	return fmt.Errorf("its copies would hold %s, %w of %s", bytesText(n), errOverLimit, bytesText(c.limit))
}

// summed returns s, the stamp of the file at path, with the hash of its content.
func (c *copies) summed(ctx context.Context, path string, s stamp) (stamp, error) {
	f, err := openSame(c.root, path, os.O_RDONLY, s)
	if err != nil {
		return s, err
	}
	defer f.Close()
	var sum maphash.Hash
	sum.SetSeed(c.seed)
	err = copyBytes(ctx, &sum, f, s.size)
	s.sum = sum.Sum64()
	return s, err
}

// drop frees the copies that only s needs.
func (c *copies) drop(s *state) {
	for _, x := range s.items {
		if x.content == nil {
			continue
		}
		if x.content.uses--; x.content.uses == 0 {
			c.discard(x.content)
		}
	}
	s.items = nil
}

// discard removes the copy of x, if there is one.
func (c *copies) discard(x *content) {
	if x.name == "" {
		return
	}
	_ = c.store.Remove(x.name) // it will go with the store
	if !x.cloned {
		c.held -= x.stamp.size
	}
	x.name = ""
	delete(c.known, x.stamp)
}

// openSame opens a regular file that has the stamp s.
func openSame(root *os.Root, path string, flag int, s stamp) (*os.File, error) {
	// Not to wait, should it be a pipe by now.
	f, err := root.OpenFile(path, flag|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if err := demand(f, s); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// demand returns an error unless f has the stamp s.
func demand(f *os.File, s stamp) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || stampOf(info) != s.times() {
		return errors.New("has been changed meanwhile")
	}
	return nil
}

// copyBytes copies n bytes. The system calls behind io.Copy share blocks where they can.
func copyBytes(ctx context.Context, to io.Writer, from *os.File, n int64) error {
	const most = 64 << 20 // between two looks at ctx
	for n > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		done, err := io.CopyN(to, from, min(n, most))
		if err != nil {
			return err
		}
		n -= done
	}
	return nil
}

// namesIn returns the names in a folder, or a few more than most of them.
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

func bytesText(n int64) string {
	if n < 1e9 {
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}
