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
	"strconv"
	"syscall"

	"dsstar/notebook/disk"
	"dsstar/notebook/human"
)

const (
	maxCopied = 10_000 // files, folders and links in the folder
	maxNested = 100    // depth of nested folders; each level keeps a descriptor open while it is read
)

// errOverLimit is wrapped by the error of take if there is no room. Dropping another state may
// help.
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
	beside *os.Root // folder that the store is in
	name   string   // of store in beside
	store  *os.Root // nil until the first copy
	limit  int64
	held   int64 // bytes of the copies that are not clones
	made   int   // copies so far
	plain  bool  // cloning has failed: not the same file system, or not supported
	known  map[stamp]*content

	hides bool         // changes through memory maps leave all times unchanged
	seed  maphash.Seed // of the sums, so that nobody can construct a collision
}

// state is the content of a folder at a moment.
type state struct {
	folder item            // without its entries
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
	path   string // of a file that had it when it was taken
	stamp  stamp  // of the file in the folder that holds it, if that is unchanged
	name   string // of the copy in the store
	copy   stamp  // of the copy
	cloned bool
	uses   int // number of items, in all states, that have it
}

// stamp identifies a file and its version.
type stamp struct {
	dev, ino, links   uint64
	size              int64
	modified, changed moment
	sum               uint64 // hash of the content, if copies.hides
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

// newCopies returns copies of folder that are kept in store, a folder outside of it. Anything in
// store is removed; it is created when first needed, ideally on the same file system, so that
// blocks can be shared. Another folder must not take the place of folder. limit bounds the bytes of
// all copies, without blocks shared with folder. The caller must close the copies.
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
		return nil, errors.Join(fmt.Errorf("try a memory map in %s: %w", folder, err), root.Close(),
			beside.Close())
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

// take copies the present state of the folder. Nothing must be writing to it. The error says in
// plain words why the folder cannot be copied; earlier states remain.
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
	l := listing{copies: c, items: map[string]item{}, fresh: map[stamp]*content{},
		sums: map[stamp]stamp{}}
	if err := l.folder(ctx, c.root, ".", 0); err != nil {
		return nil, err
	}
	if err := c.storeAll(ctx, l.fresh); err != nil {
		return nil, err
	}
	for _, x := range l.items {
		if x.content != nil {
			x.content.uses++
		}
	}
	return &state{item{mode: info.Mode(), modified: modified(info)}, l.items}, nil
}

// check returns an error if the folder has been replaced, or if the times of its files are not
// reliable.
func (c *copies) check() error {
	if err := disk.LeadsTo(c.folder, c.root); err != nil {
		return err
	}
	return reliable(c.root)
}

// storeAll copies all contents, or none.
func (c *copies) storeAll(ctx context.Context, fresh map[stamp]*content) error {
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
	if err := c.beside.Mkdir(c.name, 0o700); err != nil { // fails if there is a link by now
		return err
	}
	c.store, err = disk.OpenFolderIn(c.beside, c.name)
	return err
}

// copy copies x; rest is the total size of x and all contents after it.
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
	return fmt.Errorf("its copies would hold %s, %w of %s", human.Bytes(n), errOverLimit,
		human.Bytes(c.limit))
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
	// Opening must not block if the file is a pipe by now.
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
	const most = 64 << 20 // bytes between checks of ctx
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
