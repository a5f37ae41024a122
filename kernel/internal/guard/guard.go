// Package guard holds what a kernel and its sandbox agree on.
package guard

import "time"

// EndsWithin bounds how long a guard takes, after SIGTERM, to kill all processes.
const EndsWithin = 4 * time.Second

// A Session is what one confined command needs; package sandbox explains its fields.
type Session struct {
	Private                 string
	Write, Env              []string
	Reports, Listens, Facts bool
}
