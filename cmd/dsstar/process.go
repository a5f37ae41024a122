package main

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"dsstar/configs"
)

// extensionVariable is set by the notebook extension (python/dsstar) to the process of the kernel in
// which it runs, which is the parent of this process. Whoever asks there agrees to a run in that
// kernel. It is removed from the environment, because it says nothing to the programs that dsstar
// starts.
const extensionVariable = "DSSTAR_EXTENSION"

// taken returns a variable, and removes it from the environment.
func taken(name string) (value string, set bool) {
	value, set = os.LookupEnv(name)
	_ = os.Unsetenv(name) // cannot fail: the name is valid
	return value, set
}

// takeExtension returns the process of the kernel whose extension started this process; 0 if none did.
func takeExtension() int {
	value, _ := taken(extensionVariable)
	kernel, _ := strconv.Atoi(value) // 0 if it is no number
	return max(0, kernel)
}

// untilOrphaned calls cancel when the kernel whose extension started this process has ended, however
// it did: a run is not left behind in secret.
func (a *app) untilOrphaned(ctx context.Context, cancel context.CancelFunc) {
	if a.extension == 0 {
		return
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for os.Getppid() == a.extension {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
	cancel()
}

// hidePasswords returns copies of the process's arguments, and overwrites the passwords in the
// originals, which ps shows: os.Args shares their memory.
func hidePasswords(args []string) []string {
	copies := make([]string, len(args))
	for i, arg := range args {
		copies[i] = strings.Clone(arg)
		if shown := configs.Redact(arg); shown != arg {
			original := unsafe.Slice(unsafe.StringData(arg), len(arg))
			clear(original[copy(original, shown):])
		}
	}
	return copies
}
