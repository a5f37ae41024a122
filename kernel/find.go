package kernel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"dsstar/kernel/internal/process"
	"dsstar/kernel/internal/zmq"
	"dsstar/notebook/disk"
	"dsstar/notebook/lists"
)

// A Running is a running kernel, on this machine or on a server.
type Running struct {
	ID   string
	Spec string // name of its kernelspec
	// path of its notebook, as its server knows it; "" if unknown
	Notebook    string
	State       string    // "idle", "busy", "starting", ...; "" if unknown
	Since       time.Time // last activity; of a connection file without a server, its own time
	Connections int       // clients connected through the server
	File        string    // connection file; "" for a kernel of another machine
	Server      Server    // zero for a kernel without one
	PID         int       // 0 if unknown
	Dir         string    // working folder; "" if unknown
	Python      string    // interpreter; "" if unknown
}

// Found has the kernels and servers that [Discover] finds.
type Found struct {
	Kernels []Running // the most recently active first
	Servers []Server
	Errors  []error // one for each server that did not answer
}

// askWait is how long a kernel may take to answer before it counts as busy.
const askWait = 500 * time.Millisecond

// Discover finds the kernels and servers of this machine through Jupyter's
// runtime folder, and asks the given servers as well. A kernel that a server
// and the runtime folder both know is listed once.
func Discover(ctx context.Context, l Lookup, others ...Server) Found {
	var f Found
	f.Servers = LocalServers(l)
	for _, s := range others {
		f.Servers = slices.DeleteFunc(f.Servers, func(o Server) bool { return o.URL == s.URL })
		f.Servers = append(f.Servers, s)
	}
	files := localKernels(l)
	lists, errs := make([][]Running, len(f.Servers)), make([]error, len(f.Servers))
	var all sync.WaitGroup
	for i, s := range f.Servers {
		all.Go(func() { lists[i], errs[i] = s.Kernels(ctx) })
	}
	alive := make([]bool, len(files))
	for i := range files {
		all.Go(func() { alive[i] = files[i].isAlive(ctx) })
	}
	all.Wait()
	processes := kernelProcesses()
	for i := range files {
		if alive[i] {
			f.add(files[i], processes)
		}
	}
	for i, list := range lists {
		if errs[i] != nil {
			f.Errors = append(f.Errors, errs[i])
		}
		for _, k := range list {
			f.add(k, processes)
		}
	}
	slices.SortStableFunc(f.Kernels, func(a, b Running) int { return b.Since.Compare(a.Since) })
	return f
}

// add adds k, or what its server knows to the kernel with the same ID that was found by its file.
func (f *Found) add(k Running, processes map[string]Running) {
	i := slices.IndexFunc(f.Kernels, func(o Running) bool { return o.ID == k.ID })
	if i < 0 {
		f.Kernels = append(f.Kernels, k)
		i = len(f.Kernels) - 1
	} else {
		known := f.Kernels[i]
		k.File = known.File
		// It has answered; the question may have made it busy for its server.
		if known.State == "idle" && known.Server.URL == "" {
			k.State = "idle"
		}
	}
	p := processes[k.File]
	k.PID, k.Dir, k.Python = p.PID, p.Dir, p.Python
	f.Kernels[i] = k
}

// kernelProcesses returns PID, Dir and Python of the processes with a connection file among their
// arguments, by its path. Without /proc it returns none.
func kernelProcesses() map[string]Running {
	all := map[string]Running{}
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is good
	for _, path := range lines {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended or is not readable
		}
		argv := strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
		for _, arg := range argv[1:] {
			arg = strings.TrimPrefix(arg, "--f=")
			if !strings.HasSuffix(arg, ".json") || !filepath.IsAbs(arg) {
				continue
			}
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path))) // digits, by the pattern
			dir, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))   // "" for others' processes
			all[arg] = Running{PID: pid, Dir: dir, Python: argv[0]}
		}
	}
	return all
}

// localKernels reads the connection files of the runtime folder. Many of them
// belong to kernels that have ended.
func localKernels(l Lookup) []Running {
	files, _ := filepath.Glob(filepath.Join(l.RuntimeDir(), "*.json")) // the pattern is good
	var all []Running
	for _, file := range files {
		name := filepath.Base(file)
		if strings.HasPrefix(name, "jpserver-") || strings.HasPrefix(name, "nbserver-") {
			continue
		}
		info, err := os.Stat(file)
		c, bad := zmq.Read(file)
		if err != nil || bad != nil || c.Check() != nil {
			continue
		}
		all = append(all, Running{ID: kernelID(file), Spec: c.KernelName, Notebook: c.Session, File: file,
			Since: info.ModTime()})
	}
	return all
}

// isAlive reports whether a local kernel is running, and sets its State to idle or busy.
func (k *Running) isAlive(ctx context.Context) bool {
	c, err := zmq.Read(k.File)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, 4*askWait)
	defer cancel()
	g := &guest{ending: ending{ch: make(chan struct{})}}
	s := newSession(g, Options{waits: defaultWaits()})
	if s.link, err = zmq.Dial(ctx, c, false, s.deliver); err != nil {
		return false
	}
	defer s.end(false)
	go g.watch(s.link)
	asking, end := context.WithTimeout(ctx, askWait)
	defer end()
	_, err = s.roundTrip(asking, Message{Channel: Shell, Header: Header{MsgType: s.probeType()}})
	switch {
	case err == nil:
		k.State = "idle"
	case asking.Err() != nil && ctx.Err() == nil:
		k.State = "busy"
	}
	return k.State != ""
}

// LocalServers returns the servers of this machine, from the files that running servers keep in
// Jupyter's runtime folder. It does not contact them.
func LocalServers(l Lookup) []Server {
	var all []Server
	for _, pattern := range []string{"jpserver-*.json", "nbserver-*.json"} {
		files, _ := filepath.Glob(filepath.Join(l.RuntimeDir(), pattern)) // the pattern is good
		for _, file := range files {
			var j struct {
				URL, Token, Sock string
				PID              int
				BaseURL          string `json:"base_url"`
				RootDir          string `json:"root_dir"`
				NotebookDir      string `json:"notebook_dir"`
			}
			data, err := disk.ReadFile(file, zmq.MaxFile)
			if err != nil || json.Unmarshal(data, &j) != nil || !process.Exists(j.PID) {
				continue // a server that was killed leaves its file
			}
			if j.Sock != "" { // its URL has the socket's path as the host
				j.URL = "http://localhost" + cmp.Or(j.BaseURL, "/")
			}
			s, err := NewServer(j.URL, j.Token)
			if err != nil {
				continue
			}
			s.Socket, s.PID, s.Root = j.Sock, j.PID, cmp.Or(j.RootDir, j.NotebookDir)
			all = append(all, s)
		}
	}
	return all
}

// A NotFoundError reports a name that matches no running kernel, or more than one.
type NotFoundError struct {
	Name    string
	Matches []Running // none, or more than one
	Running []Running // all running kernels
}

func (e *NotFoundError) Error() string {
	list := e.Matches
	text := fmt.Sprintf("%q chooses %d kernels", e.Name, len(e.Matches))
	if len(e.Matches) == 0 {
		text, list = fmt.Sprintf("no kernel %q runs", e.Name), e.Running
	}
	if len(list) == 0 {
		return text + ": none do"
	}
	name := func(k Running) string {
		return k.ID + " (" + strings.TrimPrefix(k.Spec+", "+k.Notebook, ", ") + ")"
	}
	return text + ": there are " + strings.Join(lists.Map(list, name), "; ")
}

// Newest is the name that chooses the kernel with the latest activity.
const Newest = "newest"

// Choose returns the one kernel that name identifies: by its id or a prefix of it, its connection
// file, the path of its notebook or the end of that path, or [Newest]. The error is a
// [*NotFoundError].
func Choose(name string, kernels []Running) (Running, error) {
	if name == Newest && len(kernels) > 0 {
		return slices.MaxFunc(kernels, func(a, b Running) int { return a.Since.Compare(b.Since) }), nil
	}
	var matches, exact []Running
	for _, k := range kernels {
		switch {
		case k.ID == name || sameFile(k.File, name):
			return k, nil
		case k.Notebook != "" && (k.Notebook == name || sameFile(k.notebookFile(), name)):
			exact = append(exact, k)
		case k.answers(name):
			matches = append(matches, k)
		}
	}
	if len(exact) > 0 {
		matches = exact // "analysis.ipynb" is not "old/analysis.ipynb"
	}
	if len(matches) == 1 {
		return matches[0], nil
	}
	return Running{}, &NotFoundError{name, matches, kernels}
}

// shortID is the length of the shortest prefix of an id that is accepted.
const shortID = 4

func (k Running) answers(name string) bool {
	if len(name) >= shortID && strings.HasPrefix(k.ID, name) {
		return true
	}
	if file := k.notebookFile(); isFile(file) && isFile(name) {
		return sameFile(file, name)
	}
	return k.Notebook != "" && (strings.HasSuffix(name, "/"+k.Notebook) ||
		strings.HasSuffix(k.Notebook, "/"+strings.TrimPrefix(name, "./")))
}

// notebookFile returns the path of the notebook's file; "" if unknown.
func (k Running) notebookFile() string {
	switch {
	case k.Notebook == "" || filepath.IsAbs(k.Notebook):
		return k.Notebook
	case k.Server.Root == "":
		return ""
	}
	return filepath.Join(k.Server.Root, k.Notebook)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, e := os.Stat(b)
	return errors.Join(err, e) == nil && os.SameFile(x, y)
}
