package rewind

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"dsstar/kernel"
	"dsstar/notebook"
)

// The kernel says why there is no copy, and whether it is alive.
func TestFreeze(t *testing.T) {
	t.Parallel()
	o := freezing(t)
	o.back.Replay = true // cells alone make no copies
	k := open(t, o)
	u, err := newUndoer(k.Kernel, 0)
	ok(t, err)
	runCell(t, k, "x = 1", notebook.OK)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 10 {
		if _, _, err := u.freeze(ctx); err == nil {
			t.Error("frozen for a caller that has gone")
		}
	}
	id, count, err := u.freeze(t.Context())
	if err != nil || id == "" || count != 1 {
		t.Fatal(id, count, err)
	}
	runCell(t, k, "import subprocess; p = subprocess.Popen(['sleep', '60'])", notebook.OK)
	if _, _, err := u.freeze(t.Context()); err == nil || !strings.Contains(err.Error(), "sleep 60") {
		t.Error(err)
	}
	if n, err := u.resume(t.Context(), id); err != nil || n != 1 {
		t.Error(n, err)
	}
	prints(t, k, "x, 'p' in globals()", "1 False")
	check(t, u.drop(t.Context(), id))
	if _, err := u.resume(t.Context(), id); err == nil {
		t.Error("a copy was resumed that was dropped")
	}
	if *testTier == "full" {
		return // the front has another number inside
	}
	m, err := u.Request(t.Context(), kernel.Message{Channel: kernel.Control,
		Header: kernel.Header{MsgType: "undokernel_checkpoints_request"}, Content: []byte("{}")})
	var list struct{ Front struct{ PID int } }
	ok(t, errors.Join(err, json.Unmarshal(m.Content, &list)))
	ok(t, syscall.Kill(list.Front.PID, syscall.SIGSTOP))
	u.patience = 500 * time.Millisecond
	if _, _, err := u.freeze(t.Context()); !errors.Is(err, errSilent) {
		t.Error(err)
	}
	ok(t, k.Reset(t.Context()))
	ok(t, syscall.Kill(k.Info().PID, syscall.SIGKILL))
	if _, _, err := u.freeze(t.Context()); err == nil || !strings.Contains(err.Error(), "the kernel died") {
		t.Error(err)
	}
}

// The kernel gives up a copy, and copying files, before its client gives up the kernel.
func TestPatience(t *testing.T) {
	most := time.Duration(0)
	// Half of the first may pass before a copy gets "go".
	for file, share := range map[string]float64{"frozen.py": 1.5, "files.py": 1} {
		source := must(os.ReadFile("../undokernel/undokernel/" + file))
		m := regexp.MustCompile(`(?m)^PATIENCE = ([\d.]+)`).FindSubmatch(source)
		if m == nil {
			t.Fatal(file, "has no PATIENCE")
		}
		seconds := must(strconv.ParseFloat(string(m[1]), 64))
		most += time.Duration(share * seconds * float64(time.Second))
	}
	if most >= patience {
		t.Errorf("the kernel gives up after %v, its client after %v", most, patience)
	}
}
