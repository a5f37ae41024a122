package main

import (
	"context"
	"fmt"
	"os"

	"dsstar/kernel"
	"dsstar/kernel/checkpoint"
	"dsstar/kernel/sandbox"
)

// tierRows returns rows that compare, in each tier of the sandbox, restoring a checkpoint to
// starting again.
func tierRows() (all []row) {
	for _, s := range []session{goingBack[0], goingBack[1], goingBack[4]} {
		for _, tier := range []sandbox.Tier{sandbox.Builtin, sandbox.Full} {
			all = append(all, row{fmt.Sprintf("checkpoints in %s: back to %s, and a cell | start again "+
				"there, run the cells", tier, s.name), func(ctx context.Context, b *bench) (string, string,
				string, error) {
				return s.measureIn(ctx, b, tier)
			}})
		}
	}
	return all
}

// measureIn measures going back after failed cells.
func (s session) measureIn(ctx context.Context, b *bench, tier sandbox.Tier) (ours, theirs,
	verdict string, err error) {
	if _, _, err := sandbox.Choose(string(tier)); err != nil {
		return "", "", "", err
	}
	specs, err := b.kinds()
	if err != nil {
		return "", "", "", err
	}
	var all [2][]float64
	for which, spec := range specs {
		dir, err := os.MkdirTemp(b.dir, "session-")
		if err != nil {
			return "", "", "", err
		}
		k, err := begin(ctx, kernel.Options{
			Spec: spec, Dir: dir, Scratch: dir, Env: os.Environ(),
			Sandbox: sandbox.Box{Tier: tier, Limits: sandbox.Limits{Memory: 6 << 30, Processes: 256,
				File: 2 << 30, Folder: 4 << 30}},
		}, checkpoint.Options{Copies: dir + "-copies"})
		if err != nil {
			return "", "", "", err
		}
		defer k.Close()
		for _, code := range s.cells {
			if err := ran(k.Execute(ctx, code)); err != nil {
				return "", "", "", err
			}
		}
		for range max(2, b.times(15)) {
			seconds, r, err := s.back(ctx, k, "undone = 1; 1 / 0")
			if err != nil {
				return "", "", "", err
			}
			if which == 0 && r.Kept < len(s.cells) {
				return "", "", "", fmt.Errorf("it went back by %s: %s", r.Way, r.Why)
			}
			all[which] = append(all[which], seconds)
		}
	}
	ours, theirs = fmt.Sprintf("%.0f ms", 1000*median(all[0])),
		fmt.Sprintf("%.0f ms", 1000*median(all[1]))
	return ours, theirs, fmt.Sprintf("ratio %.0f", median(all[1])/median(all[0])), nil
}
