// Package pyenv keeps the Python environment that cells run in when the user names no interpreter.
//
// [Ensure] creates the environment from a lock file the first time, with venv and pip, and afterwards
// finds it without subprocesses and network. Several processes may call it concurrently, and any of
// them may be killed: an environment is complete only once its marker,
// written last, is there. [Describe] and [Check] inspect other interpreters, and [Ask] runs a
// script in one.
package pyenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"dsstar/notebook/disk"
)

// recipe is part of every environment's name. Raise it when environments are built differently.
const recipe = "1"

// Options say which environment to return and where it is.
type Options struct {
	Dir  string // the folder with the environments; created if missing
	Lock []byte // requirements with hashes; several locks may be concatenated
	// environment variables for the tools: PATH, PIP_*, proxies and certificates take effect
	Env      []string
	Progress func(line string) // called with short lines, never concurrently; may be nil
}

// Ensure returns the interpreter of the environment made from o.Lock, creating the environment if
// necessary. The error is a [*NoPythonError], an [*InstallError], that of ctx or one about a file.
func Ensure(ctx context.Context, o Options) (python string, err error) {
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	// The tools run in another folder than the caller.
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return "", err
	}
	if dir := findReady(ctx, o); dir != "" {
		return interpreter(dir), nil
	}
	if err := disk.CheckWritable(o.Dir); err != nil {
		return "", &InstallError{Err: err}
	}
	base, err := find(ctx, o.Env)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return "", err
	}
	dir := filepath.Join(o.Dir, envName(o.Lock, base))
	lock, err := lockFile(ctx, dir+".lock", func() {
		o.Progress("waiting for another dsstar that is setting up Python")
	})
	if err != nil {
		return "", fmt.Errorf("lock %s: %w", dir+".lock", err)
	}
	defer lock.Close()
	if m, err := readMarker(dir); err == nil && m.usable(ctx, dir, o) {
		return interpreter(dir), nil
	}
	return interpreter(dir), create(ctx, o, base, dir, lock)
}

func envName(lock []byte, base Python) string {
	inputs := append(slices.Clone(lock), base.Version...)
	return fmt.Sprintf("python-%s-%s", base.minor(), digest(inputs)[:12])
}

func interpreter(dir string) string { return filepath.Join(dir, "bin", "python") }

// create builds the environment in dir, which the lock protects, and marks it as ready.
func create(ctx context.Context, o Options, base Python, dir string, lock *os.File) error {
	o.Progress("creating the Python environment (once; about 270 MB to download, 1.2 GB on disk)")
	start := time.Now()
	err := remove(dir)
	if err == nil {
		err = o.run(ctx, lock, base.Base, "-I", "-m", "venv", dir)
	}
	if err == nil {
		err = os.WriteFile(lockIn(dir), o.Lock, 0o644)
	}
	// Exactly the lock: nothing unlisted, nothing without a hash, and no package that must be
	// compiled, which would run its code and take minutes before it fails.
	if err == nil {
		err = o.run(ctx, lock, interpreter(dir), "-I", "-m", "pip", "install", "--requirement",
			lockIn(dir), "--require-hashes", "--no-deps", "--only-binary", ":all:")
	}
	if err == nil {
		err = writeMarker(dir, marker{digest(o.Lock), base.Version, base.Base, resolve(base.Base)})
	}
	if err == nil {
		o.Progress(fmt.Sprintf("the Python environment is ready after %.0f s", time.Since(start).Seconds()))
		return nil
	}
	err = errors.Join(err, remove(dir))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// lockIn is the copy of the lock file in an environment.
func lockIn(dir string) string { return filepath.Join(dir, "requirements.txt") }

// remove deletes an environment, the marker first: a partial environment must not look complete.
func remove(dir string) error {
	if err := os.Remove(filepath.Join(dir, markerName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var err error
	for range 4 { // a tool that was just killed may have created another file
		if err = os.RemoveAll(dir); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}
