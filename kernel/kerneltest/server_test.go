package kerneltest

import (
	"bufio"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"dsstar/kernel/pyenv/pyenvtest"
)

// The servers start, list and delete kernels of several kernelspecs. No process is left when
// the test ends, although one kernel is deaf and was not deleted.
func TestServers(t *testing.T) {
	pyenvtest.Long(t)
	python := pyenvtest.Tools(t)
	specs := map[string]map[string]any{
		"old": {"argv": []string{pyenvtest.OldPython(t), "-m", "ipykernel_launcher", "-f",
			"{connection_file}"}},
		"fake":     {"argv": Argv(None), "language": "fake"},
		"deaf":     {"argv": Argv(Deaf), "language": "fake"},
		"children": {"argv": Argv(Grandchildren), "language": "fake"},
	}
	for name, start := range map[string]func(testing.TB, string, map[string]map[string]any,
		...string) *Server{
		"JupyterServer": JupyterServer, "KernelGateway": KernelGateway,
	} {
		t.Run(name, func(t *testing.T) {
			var runtime string
			t.Run("calls", func(t *testing.T) {
				defer goleak.VerifyNone(t)
				s := start(t, python, specs)
				runtime = s.RuntimeDir
				testServer(t, s)
				files, err := filepath.Glob(filepath.Join(s.RuntimeDir, "jpserver-*.json"))
				if err != nil || (len(files) == 1) != (name == "JupyterServer") {
					t.Errorf("server files %q: %v", files, err)
				}
			})
			if left := marked(runtime); len(left) > 0 {
				t.Errorf("processes %v are left", left)
			}
		})
	}
}

// Options override the defaults, and kernels that cannot be listed are killed too.
func TestServerOptions(t *testing.T) {
	pyenvtest.Long(t)
	s := KernelGateway(t, pyenvtest.Tools(t),
		map[string]map[string]any{"python3": {"argv": Argv(Deaf)}},
		"--JupyterWebsocketPersonality.list_kernels=False")
	if status := s.Call(t, "GET", "/api/kernels", nil, nil); status != http.StatusForbidden {
		t.Errorf("status %d", status)
	}
	var k struct{ ID string }
	s.Call(t, "POST", "/api/kernels", map[string]any{"name": "python3"}, &k)
	awaitBound(t, s, k.ID)
}

// A server and its kernels do not outlive a killed test program, which cannot clean up.
func TestServerDiesWithTest(t *testing.T) {
	pyenvtest.Long(t)
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("the environment of other processes cannot be read here")
	}
	temp := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestServerHelper$")
	cmd.Env = append(os.Environ(), "TMPDIR="+temp, "KERNELTEST_PYTHON="+pyenvtest.Tools(t))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if killed := cmd.Process.Kill(); err != nil || killed != nil || line != "ready\n" {
		t.Errorf("the helper says %q: %v, %v", line, err, killed)
	}
	_ = cmd.Wait() // it was killed
	for begun := time.Now(); len(marked(temp+"/")) > 0; time.Sleep(50 * time.Millisecond) {
		if time.Since(begun) > 10*time.Second {
			t.Fatalf("processes %v are left", killMarked(temp+"/"))
		}
	}
}

// TestServerHelper is the test program of TestServerDiesWithTest.
func TestServerHelper(t *testing.T) {
	python := os.Getenv("KERNELTEST_PYTHON")
	if python == "" {
		t.Skip("for TestServerDiesWithTest")
	}
	s := JupyterServer(t, python, map[string]map[string]any{"deaf": {"argv": Argv(Deaf)}})
	for _, name := range []string{"deaf", "python3"} {
		var k struct{ ID string }
		s.Call(t, "POST", "/api/kernels", map[string]any{"name": name}, &k)
		awaitBound(t, s, k.ID)
	}
	fmt.Println("ready")
	time.Sleep(time.Minute)
}

func testServer(t *testing.T, s *Server) {
	var found struct{ KernelSpecs map[string]any }
	s.Call(t, "GET", "/api/kernelspecs", nil, &found)
	names := slices.Sorted(maps.Keys(found.KernelSpecs))
	if got, want := fmt.Sprint(names), "[children deaf fake old python3]"; got != want {
		t.Errorf("kernelspecs %s, want %s", got, want)
	}
	for _, name := range []string{"python3", "old", "fake", "deaf", "children"} {
		var k struct{ ID, Name string }
		if status := s.Call(t, "POST", "/api/kernels", map[string]any{"name": name},
			&k); status != http.StatusCreated || k.Name != name {
			t.Errorf("start %s: status %d, %+v", name, status, k)
			continue
		}
		path := "/api/kernels/" + k.ID
		awaitBound(t, s, k.ID)
		if name == "deaf" || name == "children" {
			continue // left for the end of the test
		}
		if status := s.Call(t, "DELETE", path, nil, nil); status != http.StatusNoContent {
			t.Errorf("delete %s: status %d", name, status)
		}
		if status := s.Call(t, "GET", path, nil, nil); status != http.StatusNotFound {
			t.Errorf("get the deleted %s: status %d", name, status)
		}
	}
	stranger := *s
	stranger.Token = "x"
	if status := stranger.Call(t, "GET", "/api/kernels", nil, nil); status != http.StatusForbidden &&
		status != http.StatusUnauthorized {
		t.Errorf("status %d with a wrong token", status)
	}
}

// awaitBound waits until the kernel's process listens.
func awaitBound(t *testing.T, s *Server, id string) {
	t.Helper()
	c, err := readConnection(filepath.Join(s.RuntimeDir, "kernel-"+id+".json"))
	if err != nil {
		t.Fatal(err)
	}
	for begun := time.Now(); time.Since(begun) < 30*time.Second; time.Sleep(20 * time.Millisecond) {
		if conn, err := net.Dial("tcp", c.address("shell_port")); err == nil {
			_ = conn.Close()
			return
		}
	}
	t.Errorf("kernel %s does not listen", id)
}
