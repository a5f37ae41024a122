// Package guard holds what a kernel and its sandbox agree on.
package guard

import "time"

// EndsWithin bounds how long a guard takes, after SIGTERM, to kill all processes.
const EndsWithin = 4 * time.Second

// A Session is what one confined command needs.
type Session struct {
	Private string   // writable folder for sockets, home and temporary files
	Write   []string // writable folders; missing ones are created
	Env     []string // environment variables to keep, besides those of the sandbox
	// the guard writes the reason for killing the processes to descriptor 3, not to standard error
	Reports bool
	Listens bool // the program may bind sockets
	// each process may read the entries in /proc of the session's processes, even if /proc is hidden
	Facts bool
}
