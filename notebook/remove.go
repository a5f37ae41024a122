package notebook

import "os"

// RemoveIn is [RemoveFolder] for the folder name directly in parent.
func RemoveIn(parent *os.Root, name string) error { return removeIn(parent, name) }
