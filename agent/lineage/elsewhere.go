package lineage

import (
	"slices"
	"strings"
)

// Elsewhere returns a script that runs as if on another computer, on which folders list their files
// the other way round and which has one more processor.
func Elsewhere(script string) string { return python("elsewhere.py") + script }

// machine is what [Elsewhere] changes, in the words of doubts.
var machine = []string{"the order in which a folder lists its files", "the number of processors"}

// WithoutMachine returns doubts without those about what [Elsewhere] changes.
func WithoutMachine(doubts []string) []string {
	return slices.DeleteFunc(slices.Clone(doubts), func(doubt string) bool {
		return slices.ContainsFunc(machine, func(what string) bool { return strings.HasSuffix(doubt, what) })
	})
}
