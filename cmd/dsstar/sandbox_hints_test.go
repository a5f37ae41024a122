package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/kernel/sandbox"
)

// What to do about a sandbox that does not work helps against its cause: bubblewrap is named only where it is missing.
func TestSandboxHints(t *testing.T) {
	for _, c := range []struct {
		tier  sandbox.Tier
		cause sandbox.Cause
		want  string // in the first hint
	}{
		{sandbox.Full, sandbox.NoBubblewrap, "apt-get install bubblewrap"},
		{sandbox.Full, sandbox.AppArmor, "apt-get install apparmor-profiles"},
		{sandbox.Full, sandbox.NamespacesOff, "sysctl"},
		{sandbox.Full, sandbox.NamespacesRefused, "unshare --user"},
		{sandbox.Builtin, sandbox.NoLandlock, "lsm"},
		{sandbox.Builtin, sandbox.NoSeccomp, "--sandbox external"},
		{sandbox.Builtin, sandbox.NoLinux, "--sandbox external"},
	} {
		err := fmt.Errorf("%w: %w", sandbox.ErrNone, &sandbox.MissingError{Tier: c.tier, Cause: c.cause, Err: errors.New("why")})
		code, text, hints := explain(err, usage.Line{Command: "dsstar nb"})
		if code != exitError || text != "no sandbox works here: why; nothing was run" || len(hints) == 0 || !strings.Contains(hints[0], c.want) {
			t.Errorf("%s: %d %s %q", c.cause, code, text, hints)
		}
		all := strings.Join(hints, "\n")
		if strings.Contains(all, "install bubblewrap") != (c.cause == sandbox.NoBubblewrap) {
			t.Errorf("%s: %s", c.cause, all)
		}
		if strings.Contains(all, "--sandbox builtin") != (c.tier == sandbox.Full) || !strings.Contains(all, "--sandbox off") {
			t.Errorf("%s: %s", c.cause, all)
		}
	}
}

// Where a search for sockets does not end, the hint is the tier that makes none.
func TestTooManyHint(t *testing.T) {
	code, _, hints := explain(fmt.Errorf("start kernel: %w", sandbox.ErrTooMany), usage.Line{Command: "dsstar nb"})
	if code != exitUsage || len(hints) != 1 || !strings.Contains(hints[0], "--sandbox builtin") {
		t.Errorf("%d %q", code, hints)
	}
}
