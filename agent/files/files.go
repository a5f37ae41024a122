// Package files inspects a data folder without running code: which files there are, and how each
// begins. What a file holds is not its business: a program in a session says that.
//
// Files are not trusted. Every read is bounded, and only errors of the file system are errors.
//
// Files are opened in a [Folder]. A link to a file is followed within the folder, and out of it
// only to what the user has named, because a stranger's data may link to the user's keys. A
// link to a folder is never followed out of the data folder.
package files

// A File is a data file. Its name is its path below the data folder, with slashes.
type File struct {
	Name string `json:"name"`
	Size int64  `json:"size"`          // bytes, with those of its companions
	Sum  string `json:"sum,omitempty"` // see [Folder.Sum]; "": not known, or not read whole
}

// Same reports whether two files have the same size, and the same sum if both are known.
func (f File) Same(other File) bool {
	return f.Size == other.Size && (f.Sum == other.Sum || f.Sum == "" || other.Sum == "")
}
