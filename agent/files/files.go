// Package files inspects a data folder without running code: which files there are, and how each
// begins. What a file holds is not its business: a program in a session says that.
//
// Files are not trusted. Every read is bounded, and only errors of the file system are errors.
//
// Files are opened in a [Folder]. A link to a file is followed within the folder, and out of it
// only to what the user has named, because a stranger's data may link to the user's keys. A
// link to a folder is never followed out of the data folder.
package files

import (
	"fmt"
	"path"
	"slices"

	"dsstar/notebook/human"
)

// A File is a data file. Its name is its path below the data folder, with slashes.
type File struct {
	Name string `json:"name"`
	Size int64  `json:"size"` // bytes
	// With are the companions whose data belong to it.
	With []Companion `json:"with,omitempty"`
	Sum  string      `json:"sum,omitempty"` // see [Folder.Sum]; "": not known, or not read whole
}

// Same reports whether two files have the same size and companions of the same names and sizes, and
// the same sum as far as both are known.
func (f File) Same(other File) bool {
	sum := f.Sum == other.Sum || f.Sum == "" || other.Sum == ""
	alike := func(a, b Companion) bool { return a.Name == b.Name && a.Size == b.Size }
	return f.Size == other.Size && sum && slices.EqualFunc(f.With, other.With, alike)
}

// Weight says in words how large the file is, and which companions it has.
func (f File) Weight() string {
	text := human.Bytes(f.Size)
	for _, c := range f.With {
		text += fmt.Sprintf(", with %q of %s", path.Base(c.Name), human.Bytes(c.Size))
	}
	return text
}
