package kernel

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"dsstar/notebook"
)

// checkpointSpec is that of a kernel with checkpoints of the given Python.
func checkpointSpec(t testing.TB, python string) Spec {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("there are checkpoints on Linux only")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	spec, err := CheckpointSpec(PythonSpec(python), filepath.Join(cache, "dsstar", "test-kernels"))
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// Programs that write the package at once do not disturb one another, and repair it.
func TestCheckpointSpec(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kernels")
	homes := make([]string, 8)
	var all sync.WaitGroup
	for i := range homes {
		all.Go(func() {
			var err error
			if homes[i], err = writeCheckpointModule(dir); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if slices.Sort(homes); homes[0] != homes[7] {
		t.Errorf("homes %q", homes)
	}
	if err := os.Remove(filepath.Join(homes[0], checkpointModule, "front.py")); err != nil {
		t.Fatal(err)
	}
	if _, err := writeCheckpointModule(dir); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("%v, %d entries", err, len(entries))
	}
	files, err := filepath.Glob(filepath.Join(homes[0], checkpointModule, "*.py"))
	if sources, _ := filepath.Glob(filepath.Join(checkpointModule, "*.py")); err != nil || len(files) != len(sources) {
		t.Errorf("%v, files %q, want %q", err, files, sources)
	}
	if !(Spec{Argv: []string{"python", "-m", checkpointModule}}).IPython() {
		t.Error("not known as an IPython kernel")
	}
}

// A checkpointReply is any of the replies of docs/checkpoints.md.
type checkpointReply struct {
	Status, EName, EValue string
	Checkpoint            string
	Count                 int `json:"execution_count"`
	Resident              int64
	Findings              []struct{ Kind, Detail string }
	Checkpoints           []struct {
		Checkpoint string
		PID        int
		Bytes      int64
	}
	Live, Front struct {
		PID   int
		Bytes int64
	}
}

// request asks k on its control channel.
func request(t testing.TB, k *Kernel, kind string, content any) checkpointReply {
	t.Helper()
	body, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	m, err := k.Ask(t.Context(), Message{Channel: Control, Type: kind, Content: body})
	if err != nil {
		t.Fatal(err)
	}
	var reply checkpointReply
	if err := json.Unmarshal(m.Content, &reply); err != nil {
		t.Fatalf("%s: %v\n%s", kind, err, m.Content)
	}
	return reply
}

func checkpoint(t testing.TB, k *Kernel) string {
	t.Helper()
	reply := request(t, k, "checkpoint_request", struct{}{})
	if reply.Status != "ok" {
		t.Fatalf("checkpoint: %+v", reply)
	}
	return reply.Checkpoint
}

func rollBack(t testing.TB, k *Kernel, to string) checkpointReply {
	t.Helper()
	reply := request(t, k, "rollback_request", map[string]string{"checkpoint": to})
	if reply.Status != "ok" {
		t.Fatalf("roll back: %+v", reply)
	}
	return reply
}

func openCheckpoints(t testing.TB, python string, env ...string) *Kernel {
	t.Helper()
	dir := t.TempDir()
	return open(t, Options{
		Spec: checkpointSpec(t, python), Dir: dir, Scratch: dir, Env: append(os.Environ(), env...), CellTimeout: time.Minute,
	})
}

func TestCheckpointTree(t *testing.T) {
	k := openCheckpoints(t, testPython(t))
	runCell(t, k, "t = [0]", notebook.OK)
	ids := map[string]string{"0": checkpoint(t, k)}
	for _, name := range []string{"1", "2"} {
		runCell(t, k, "t.append("+name+")", notebook.OK)
		ids[name] = checkpoint(t, k)
	}
	rollBack(t, k, ids["1"])
	runCell(t, k, "t.append('b')", notebook.OK)
	ids["b"] = checkpoint(t, k)
	want := map[string]string{"0": "[0]", "1": "[0, 1]", "2": "[0, 1, 2]", "b": "[0, 1, 'b']"}
	for _, name := range []string{"0", "2", "1", "b", "0", "2"} {
		rollBack(t, k, ids[name])
		if got := runCell(t, k, "print(t, end='')", notebook.OK).Stdout(); got != want[name] {
			t.Errorf("at %s: %s, want %s", name, got, want[name])
		}
	}
}
