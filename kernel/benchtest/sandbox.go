package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"dsstar/kernel"
	"dsstar/kernel/sandbox"
)

// sandboxRows returns rows that compare a kernel in each tier to an unconfined one.
func sandboxRows() (all []row) {
	for _, tier := range []sandbox.Tier{sandbox.Builtin, sandbox.Full} {
		all = append(all,
			row{fmt.Sprintf("sandbox %s: start of the kernel (wanted: ratio 1.15) | without", tier),
				func(ctx context.Context, b *bench) (string, string, string, error) {
					return b.confinedStart(ctx, tier)
				}},
			row{fmt.Sprintf("sandbox %s: execute round trip, p50 (wanted: ratio 1.05) | without", tier),
				func(ctx context.Context, b *bench) (string, string, string, error) {
					return b.confinedRoundTrip(ctx, tier)
				}})
	}
	return all
}

// inAndOut returns the options for a kernel in the tier and an unconfined one.
func (b *bench) inAndOut(tier sandbox.Tier) ([2]kernel.Options, error) {
	var both [2]kernel.Options
	_, _, err := sandbox.Choose(string(tier))
	for i, t := range []sandbox.Tier{tier, sandbox.Off} {
		dir, e := os.MkdirTemp(b.dir, "session-")
		if err = e; e != nil {
			break
		}
		both[i] = kernel.Options{
			Spec: kernel.PythonSpec(b.python), Dir: dir, Scratch: dir, Env: os.Environ(),
			Sandbox: sandbox.Box{Tier: t, Limits: sandbox.Limits{Memory: 4 << 30, Processes: 256,
				File: 2 << 30, Folder: 4 << 30}},
		}
	}
	return both, err
}

func (b *bench) confinedStart(ctx context.Context, tier sandbox.Tier) (ours, theirs, verdict string,
	err error) {
	both, err := b.inAndOut(tier)
	if err != nil {
		return "", "", "", err
	}
	var all [2][]float64
	for range b.times(30) {
		for which, o := range both {
			begun := time.Now()
			k, err := kernel.Start(ctx, o)
			if err != nil {
				return "", "", "", err
			}
			all[which] = append(all[which], time.Since(begun).Seconds())
			if err := k.Close(); err != nil {
				return "", "", "", err
			}
		}
	}
	return fmt.Sprintf("%.0f ms", 1000*median(all[0])), fmt.Sprintf("%.0f ms", 1000*median(all[1])),
		ratio(median(all[0]), median(all[1])), nil
}

func (b *bench) confinedRoundTrip(ctx context.Context, tier sandbox.Tier) (ours, theirs,
	verdict string, err error) {
	both, err := b.inAndOut(tier)
	if err != nil {
		return "", "", "", err
	}
	var kernels [2]*kernel.Kernel
	for i, o := range both {
		if kernels[i], err = kernel.Start(ctx, o); err != nil {
			return "", "", "", err
		}
		defer kernels[i].Close()
	}
	var all [2][]float64
	for range b.times(2000) {
		for which, k := range kernels {
			begun := time.Now()
			if err := ran(k.Execute(ctx, "x = 1")); err != nil {
				return "", "", "", err
			}
			all[which] = append(all[which], time.Since(begun).Seconds())
		}
	}
	return fmt.Sprintf("%.2f ms", 1000*median(all[0])), fmt.Sprintf("%.2f ms", 1000*median(all[1])),
		ratio(median(all[0]), median(all[1])), nil
}
