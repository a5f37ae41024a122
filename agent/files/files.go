// Package files inspects a data folder without running code: which files there are, how each
// begins, and which are probably of one structure. What a file holds is not its business: a
// program in a session says that.
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
	Size int64  `json:"size"` // bytes
}

// Families groups the indexes of looks by Shape, in the order of their first members. A look
// without a Shape forms its own group.
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
