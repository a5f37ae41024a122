package ui

import (
	"os"

	"golang.org/x/term"
)

// IsTerminal reports whether f is a terminal.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// Size returns the columns and rows of the terminal f; ok is false if f is not one, or its size is
// unknown.
func Size(f *os.File) (columns, rows int, ok bool) {
	columns, rows, err := term.GetSize(int(f.Fd()))
	return columns, rows, err == nil && columns > 0 && rows > 0
}
