// Package lazy compiles regular expressions when they are first used.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a function that compiles the regular expression on its first
// call. Compiling all of them at startup cost every command 2 ms and half a
// megabyte, and most commands use none.
func Regexp(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
