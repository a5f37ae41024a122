//go:build !linux

package checkpoint

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// Checkpoints are made on Linux only, and copies of files for them alone.
var errNoCopies = errors.New("copies of files are made on Linux only")

func reliable(*os.Root) error                         { return errNoCopies }
func stampOf(fs.FileInfo) stamp                       { return stamp{} }
func clone(to, from *os.File) bool                    { return false }
func hidesChanges(*os.Root) (bool, error)             { return false, nil }
func setModified(*os.Root, string, moment) error      { return errNoCopies }
func settle(ctx context.Context, latest moment) error { return errNoCopies }
