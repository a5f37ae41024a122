// Package files tells what a data folder holds, as far as it can be known
// without running code: which files there are, what the beginning of each
// shows, and which of them have the same structure.
//
// Nothing here trusts a file. Every read is bounded, and a file that is broken
// or hostile has a look like any other, whose Kind says what is odd. Only what
// the file system refuses is an error.
//
// Files are opened below an [os.Root]. A link to a file is followed wherever it
// points, as [List] lists it: people link to data that are kept elsewhere. A
// link to a folder never leads out of the root.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A File is a data file by its name below the data folder, with slashes.
type File struct {
	Name string `json:"name"`
	Size int64  `json:"size"` // bytes
}

// errIrregular is for what has become a folder or a pipe since it was listed.
var errIrregular = errors.New("not a regular file")

// open opens a file for reading. The caller closes it.
func open(root *os.Root, f File) (*os.File, fs.FileInfo, error) {
	name := filepath.FromSlash(f.Name)
	linked := func() bool { // the file itself, not a folder on its way
		info, err := root.Lstat(name)
		return err == nil && info.Mode()&fs.ModeSymlink != 0
	}
	stat, openFile := root.Stat, root.Open
	info, err := stat(name)
	if err != nil && linked() {
		stat = func(name string) (fs.FileInfo, error) { return os.Stat(filepath.Join(root.Name(), name)) }
		openFile = func(name string) (*os.File, error) { return os.Open(filepath.Join(root.Name(), name)) }
		info, err = stat(name)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("look at %s: %w", f.Name, err)
	}
	if !info.Mode().IsRegular() { // asked before opening: opening a pipe waits
		return nil, nil, fmt.Errorf("look at %s: %w", f.Name, errIrregular)
	}
	file, err := openFile(name)
	if err != nil {
		return nil, nil, fmt.Errorf("look at %s: %w", f.Name, err)
	}
	return file, info, nil
}

// readStart reads at most n bytes from the start of r, which has about size.
func readStart(r io.ReaderAt, size, n int64) ([]byte, error) {
	b := make([]byte, min(n, size+1)) // one more, to come to its end
	got, err := r.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read: %w", err)
	}
	return b[:got], nil
}

// Families returns the indexes of looks with the same Shape together, in the
// order of their first members. A look without a Shape is alone.
func Families(looks []Look) [][]int {
	var families [][]int
	of := map[string]int{}
	for i, l := range looks {
		n, known := of[l.Shape]
		if !known || l.Shape == "" {
			n = len(families)
			families = append(families, nil)
			of[l.Shape] = n
		}
		families[n] = append(families[n], i)
	}
	return families
}
