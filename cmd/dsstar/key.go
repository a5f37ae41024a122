package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/notebook/disk"
)

const keyBytes = 32

var errNoConfig = errors.New("there is no folder for its key, because HOME is not set")

// key returns the key with which this user's dsstar seals its records. Without one, which is said once,
// every run counts as another dsstar's.
func (a *app) key() record.Key {
	a.keyOnce.Do(func() {
		err := errNoConfig
		if a.configDir != "" {
			a.ownKey, err = disk.Secret(filepath.Join(a.configDir, "key"), keyBytes)
		}
		if err != nil {
			a.warn("dsstar cannot tell its own runs from others: %v", err)
		}
	})
	return a.ownKey
}

// warn writes a warning to standard error, in the form that the command's progress has.
func (a *app) warn(format string, args ...any) {
	if a.progress != nil {
		a.progress.Warn(format, args...)
		return
	}
	fmt.Fprintf(a.stderr, "dsstar: warning: %s\n", ui.Clean(fmt.Sprintf(format, args...)))
}
