package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"go/build"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"dsstar/agent/record"
	"dsstar/notebook/disk"
)

// planted is a key placed where a user's keys are while the tests run: in the environment, in
// ~/.ssh, and in the arguments and the environment of another process. It must not appear in
// anything that dsstar writes or prints. "" if no key is planted.
var planted string

// plant plants the key, in a home folder for the tests. end cleans up.
func plant() (end func(), err error) {
	key := "planted-" + rand.Text()
	cache, err := os.UserCacheDir()
	config, configErr := os.UserConfigDir()
	home, homeErr := os.MkdirTemp("", "dsstar-home-")
	if err := errors.Join(err, configErr, homeErr); err != nil {
		return nil, err
	}
	err = errors.Join(os.Mkdir(filepath.Join(home, ".ssh"), 0o700),
		os.WriteFile(filepath.Join(home, ".ssh", "id_ed25519"), []byte(key), 0o600))
	for name, value := range map[string]string{
		"HOME": home, "PLANTED_API_KEY": key, "AWS_SECRET_ACCESS_KEY": key,
		"XDG_CACHE_HOME": cache, "GOPATH": build.Default.GOPATH, // as they are
		"GOENV": cmp.Or(os.Getenv("GOENV"), filepath.Join(config, "go", "env")),
	} {
		err = errors.Join(err, os.Setenv(name, value))
	}
	// It ends when its standard input closes, so with the tests, however they end.
	other := exec.Command("cat")
	other.Args[0], other.Env = "cat-"+key, []string{"OPENAI_API_KEY=" + key}
	stdin, pipeErr := other.StdinPipe()
	if err = errors.Join(err, pipeErr); err == nil {
		err = other.Start()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(home))
	}
	planted = key
	return func() {
		_ = stdin.Close()
		_ = other.Wait() // its exit status does not matter
		_ = os.RemoveAll(home)
	}, nil
}

// plantedMain runs the tests with the planted key.
func plantedMain(m *testing.M) int {
	if runtime.GOOS != "linux" {
		return m.Run() // caches are in the home folder there
	}
	end, err := plant()
	if err != nil {
		fmt.Fprintln(os.Stderr, "plant a key:", err)
		return 1
	}
	defer end()
	return m.Run()
}

var lookedInto sync.Map // tests whose folders are looked into at their end

// watchForKey looks for the planted key in said and in the test's temporary folders before these
// are removed.
func watchForKey(t testing.TB, said ...*bytes.Buffer) {
	t.Helper()
	// TempDir comes first, so that the folders are removed only after the cleanup below.
	dir := filepath.Dir(t.TempDir())
	_, known := lookedInto.LoadOrStore(t, true)
	t.Cleanup(func() {
		for _, text := range said {
			if planted != "" && bytes.Contains(text.Bytes(), []byte(planted)) {
				t.Errorf("the planted key is in what dsstar says:\n%s", text)
			}
		}
		if !known {
			checkNotHeld(t, dir)
		}
	})
}

// checkNotHeld fails the test if a file below a folder contains the planted key. Of a file it reads
// a limited part, because tests make huge empty ones. What was removed meanwhile, or made unreadable
// by a test, does not count.
func checkNotHeld(t testing.TB, folder string) {
	t.Helper()
	if planted == "" {
		return
	}
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return nil
		}
		defer f.Close()
		if text, _ := io.ReadAll(io.LimitReader(f, 64<<20)); bytes.Contains(text, []byte(planted)) {
			t.Errorf("the planted key is in %s", path)
		}
		return nil
	})
}

// A testProgram is the program in a test. It must leave the data as they are.
type testProgram struct {
	*app
	t testing.TB
}

func (p *testProgram) run(ctx context.Context, args []string) int {
	p.t.Helper()
	check := keepData(p.t, args)
	defer check()
	return p.app.run(ctx, args)
}

// keepData records the state of a command line's data folders; check fails the test if one has
// changed. Without a sandbox nothing restrains the cells.
func keepData(t testing.TB, args []string) (check func()) {
	t.Helper()
	before := map[string]map[string]string{}
	if !strings.Contains(strings.Join(args, " "), "--sandbox off") {
		for _, folder := range dataOf(args) {
			before[folder] = states(folder)
		}
	}
	return func() {
		t.Helper()
		for folder, was := range before {
			if is := states(folder); !maps.Equal(was, is) {
				t.Errorf("the data in %s have changed:\n%q, were\n%q", folder, is, was)
			}
		}
	}
}

// dataOf returns the data folders of a command line: the one that it names, and that of the run
// that it resumes or reruns.
func dataOf(args []string) (folders []string) {
	for i, arg := range args {
		if value, ok := strings.CutPrefix(arg, "--data="); ok {
			folders = append(folders, value)
		} else if i > 0 && (args[i-1] == "--data" || args[i-1] == "describe") {
			folders = append(folders, arg)
		}
	}
	if len(args) > 0 && (args[0] == "resume" || args[0] == "rerun") {
		for _, arg := range args[1:] {
			if r, err := findRun(arg, testKey); err == nil && r.data() != "" {
				for _, source := range r.t.Task.In(r.data()) {
					folders = append(folders, disk.RealPath(source.Path))
				}
			}
		}
	}
	return slices.DeleteFunc(folders, func(folder string) bool { // not a folder, or one of the system's
		real := disk.RealPath(folder)
		return !isFolder(folder) || real == disk.RealPath(os.TempDir()) || !disk.Inside(os.TempDir(), real)
	})
}

// states returns modes, sizes and times of the files in a folder, by name, without run folders.
func states(folder string) map[string]string {
	all := map[string]string{}
	_ = filepath.WalkDir(disk.RealPath(folder), func(path string, d fs.DirEntry, err error) error {
		var info fs.FileInfo
		if err == nil {
			info, err = d.Info()
		}
		if err != nil {
			all[path] = err.Error()
			return nil
		}
		_, run := os.Lstat(record.Folder(path).Trace())
		if d.IsDir() && (run == nil || d.Name() == "dsstar-runs") {
			return fs.SkipDir
		}
		all[path] = info.Mode().String()
		if info.Mode().IsRegular() {
			all[path] += fmt.Sprintf(" %d %s", info.Size(), info.ModTime())
		}
		return nil
	})
	return all
}
