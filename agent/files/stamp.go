package files

import "io/fs"

// A Stamp tells whether a file is as it was, without reading it: it changes with the file, but also
// without it, when the file is moved or linked.
type Stamp struct {
	Size          int64
	Modified      int64 // in ns, as anybody can set it
	Device, Inode uint64
	Changed       int64 // in ns, as the system alone sets it; 0: not known
}

// StampOf returns the stamp of a file.
func StampOf(info fs.FileInfo) Stamp {
	s := Stamp{Size: info.Size(), Modified: info.ModTime().UnixNano()}
	s.identify(info.Sys())
	return s
}

// Touched reports whether only what the system keeps of the file has changed: it may have other
// content all the same.
func (s Stamp) Touched(was Stamp) bool {
	return s != was && s.Size == was.Size && s.Modified == was.Modified
}
