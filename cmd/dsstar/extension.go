package main

import (
	"context"
	"os"
	"strconv"
	"time"
)

// extensionVariable is set by the notebook extension (python/dsstar) to the process of the kernel in
// which it runs, which is the parent of this process. Whoever asks there agrees to a run in that
// kernel. It is removed from the environment, because it says nothing to the programs that dsstar
// starts.
const extensionVariable = "DSSTAR_EXTENSION"

// takeExtension returns the process of the kernel whose extension started this process; 0 if none did.
func takeExtension() int {
	kernel, err := strconv.Atoi(os.Getenv(extensionVariable))
	_ = os.Unsetenv(extensionVariable) // cannot fail: the name is valid
	if err != nil || kernel <= 0 {
		return 0
	}
	return kernel
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
