// Package lazy compiles regular expressions when they are first used.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a regular expression that is compiled when it is first used.
// Compiling all of them at the start took 2 ms and half a megabyte from every
// command, most of which use none.
func Regexp(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
