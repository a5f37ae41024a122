package rewind

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"

	"dsstar/kernel"
	"dsstar/kernel/undokernel"
)

// Spec returns a spec of the same kernel with checkpoints: one that can freeze and resume copies of
// itself in milliseconds (undokernel/README.md). The Python package that does so, around the
// interpreter's ipykernel, is written to a subfolder of dir named after its content: packages of
// other versions stay, and several programs may write there at the same time. A spec that has
// checkpoints already is returned as it is. The error is [errors.ErrUnsupported] on systems other
// than Linux, and for kernels not started as python -m ipykernel_launcher.
func Spec(s kernel.Spec, dir string) (kernel.Spec, error) {
	at := len(s.Python()) + 1 // of the module in Argv
	switch {
	case runtime.GOOS != "linux":
		return s, fmt.Errorf("there are no checkpoints on %s: %w", runtime.GOOS, errors.ErrUnsupported)
	case at == 1:
		return s, fmt.Errorf("checkpoints are for kernels that are started as python -m "+
			"ipykernel_launcher: %w", errors.ErrUnsupported)
	case s.Argv[at] == undokernel.Module:
		return s, nil
	}
	dir, err := filepath.Abs(dir) // cells run in other folders
	if err == nil {
		dir, err = undokernel.Write(dir)
	}
	if err != nil {
		return s, fmt.Errorf("write the kernel with checkpoints: %w", err)
	}
	s.Argv = slices.Clone(s.Argv)
	s.Argv[at] = undokernel.Module
	users, ok := s.Env["PYTHONPATH"]
	if !ok {
		users = "${PYTHONPATH}"
	}
	// The package restores the user's PYTHONPATH.
	env := map[string]string{"UNDOKERNEL_PYTHONPATH": users}
	maps.Copy(env, s.Env)
	env["PYTHONPATH"] = dir + ":" + users
	s.Env = env
	return s, nil
}
