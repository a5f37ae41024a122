package kerneltest

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
	"testing"
	"time"
)

// A Server is a Jupyter server for tests.
type Server struct {
	URL   string // without a trailing slash
	Token string
	// the kernels' connection files and, for a Jupyter server, jpserver-*.json
	RuntimeDir string
	Root       string // its root folder
	PID        int

	stderr string // file
}

// JupyterServer starts a real jupyter_server with its own home, so that none of the user's
// files are read or written. It and its child processes are killed at the end of the test, or
// when the test program dies. python is an interpreter with jupyter_server; its ipykernel is
// the kernelspec python3. specs are further kernelspecs, or another python3: the content of
// kernel.json by name. options are further arguments, such as
// --ZMQChannelsWebsocketConnection.iopub_msg_rate_limit=0.
func JupyterServer(t testing.TB, python string, specs map[string]map[string]any,
	options ...string) *Server {
	t.Helper()
	return startServer(t, python, specs, "jupyter_server", "ServerApp",
		append([]string{"--no-browser", "--allow-root"}, options...)...)
}

// JupyterLab starts a real JupyterLab without jupyter-collaboration; otherwise see [JupyterServer]. Its
// pages expose the application as window.jupyterapp and show no pop-ups.
func JupyterLab(t testing.TB, python string, specs map[string]map[string]any) *Server {
	t.Helper()
	settings := t.TempDir()
	for name, content := range map[string]string{
		"page_config.json": `{"disabledExtensions": {"@jupyter/collaboration-extension": true,
			"@jupyter/docprovider-extension": true}}`,
		"overrides.json": `{"@jupyterlab/apputils-extension:notification": {"fetchNews": "false",
			"checkForUpdates": false}}`,
	} {
		if err := os.WriteFile(filepath.Join(settings, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return startServer(t, python, specs, "jupyterlab", "ServerApp", "--no-browser", "--allow-root",
		"--ServerApp.jpserver_extensions={'jupyterlab': True}", "--LabApp.app_settings_dir="+settings,
		"--LabApp.expose_app_in_browser=True")
}

// KernelGateway starts a real Jupyter Kernel Gateway, which lists its kernels; otherwise see [JupyterServer].
func KernelGateway(t testing.TB, python string, specs map[string]map[string]any,
	options ...string) *Server {
	t.Helper()
	return startServer(t, python, specs, "kernel_gateway", "KernelGatewayApp",
		append([]string{"--JupyterWebsocketPersonality.list_kernels=True"}, options...)...)
}

// serverTimeout limits the start of a server.
const serverTimeout = time.Minute

// watched runs a module until its standard input ends, that is, until the test program has ended.
const watched = `import os, runpy, signal, sys, threading
def watch():
    os.read(0, 1)
    os.killpg(0, signal.SIGKILL)
threading.Thread(target=watch, daemon=True).start()
sys.argv = sys.argv[1:]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)`

// startServer runs a module in the server's root folder until it answers; app has its options of
// the address.
func startServer(t testing.TB, python string, specs map[string]map[string]any, module, app string,
	options ...string) *Server {
	t.Helper()
	home := t.TempDir()
	s := &Server{
		Token: rand.Text(), RuntimeDir: filepath.Join(home, "runtime"), Root: filepath.Join(home, "root"),
		stderr: filepath.Join(home, "stderr"),
	}
	data := filepath.Join(home, "data")
	free := must(net.Listen("tcp", "127.0.0.1:0"))
	_, port, err := net.SplitHostPort(free.Addr().String())
	if err := errors.Join(err, free.Close(), os.Mkdir(s.Root, 0o755),
		writeSpecs(data, python, specs)); err != nil {
		t.Fatal(err)
	}
	s.URL = "http://127.0.0.1:" + port
	// Files, because each io.Writer would need a goroutine.
	stderr := must(os.Create(s.stderr))
	defer stderr.Close()
	cmd := exec.Command(python, append([]string{"-I", "-c", watched, module,
		"--" + app + ".ip=127.0.0.1", "--" + app + ".port=" + port, "--" + app + ".port_retries=0"},
		options...)...)
	cmd.Stdout, cmd.Stderr, cmd.Dir, cmd.Env = stderr, stderr, s.Root, s.environ(home, data)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	_ = must(cmd.StdinPipe()) // Wait closes it
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.PID = cmd.Process.Pid
	t.Cleanup(func() {
		_ = syscall.Kill(-s.PID, syscall.SIGKILL) // it may have ended
		_ = cmd.Wait()                            // it was killed
		if left := killMarked(s.RuntimeDir); len(left) > 0 {
			t.Errorf("processes of %s that cannot be killed: %v", module, left)
		}
	})
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		// Only our server accepts the token.
		status, err := s.try("GET", "/api/kernelspecs", nil, nil)
		if err == nil && status == http.StatusOK {
			return s
		}
		// a zombie has ended: nobody waits for it yet
		if State(s.PID) == "Z" || time.Since(begun) > serverTimeout {
			t.Fatalf("%s does not answer: %d %v\n%s", module, status, err, s.lastWords())
		}
	}
}

// environ returns this process's environment without the variables of Python and Jupyter, and
// with the server's own folders.
func (s *Server) environ(home, data string) []string {
	others := regexp.MustCompile(`^(JUPYTER|JPY_|KG_|IPYTHON|PYTHON|XDG_|VIRTUAL_ENV)`)
	return append(slices.DeleteFunc(os.Environ(), others.MatchString),
		"HOME="+home, "TMPDIR="+home, "JUPYTER_DATA_DIR="+data, "JUPYTER_RUNTIME_DIR="+s.RuntimeDir,
		"JUPYTER_CONFIG_DIR="+filepath.Join(home, "config"), "IPYTHONDIR="+filepath.Join(home, "ipython"),
		"JUPYTER_NO_CONFIG=1",       // ignores the system's, too
		"JUPYTER_PREFER_ENV_PATH=0", // kernelspecs in data win over those of python's environment
		"JUPYTER_TOKEN="+s.Token, "KG_AUTH_TOKEN="+s.Token)
}

// writeSpecs installs kernelspecs in the data folder, python3 among them.
func writeSpecs(data, python string, specs map[string]map[string]any) error {
	all := map[string]map[string]any{"python3": {
		"argv":         []string{python, "-m", "ipykernel_launcher", "-f", "{connection_file}"},
		"display_name": "Python 3", "language": "python", "metadata": map[string]any{"debugger": true},
	}}
	maps.Copy(all, specs)
	for name, content := range all {
		full := map[string]any{"display_name": name, "language": "python"}
		maps.Copy(full, content)
		dir := filepath.Join(data, "kernels", name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "kernel.json"), encode(full), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Call makes a request to the server's REST API with body as JSON, unless nil, and decodes the
// response into result, unless nil. It returns the status.
func (s *Server) Call(t testing.TB, method, path string, body, result any) int {
	t.Helper()
	status, err := s.try(method, path, body, result)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", method, path, err, s.lastWords())
	}
	return status
}

func (s *Server) try(method, path string, body, result any) (status int, err error) {
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(encode(body))
	}
	request, err := http.NewRequest(method, s.URL+path, content)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "token "+s.Token)
	// No idle connections: each keeps goroutines.
	brief := &http.Transport{DisableKeepAlives: true}
	client := http.Client{Timeout: 30 * time.Second, Transport: brief}
	answer, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	if result != nil && answer.StatusCode < 300 {
		err = json.NewDecoder(answer.Body).Decode(result)
	}
	return answer.StatusCode, err
}

// lastWords returns the end of the server's stdout and stderr.
func (s *Server) lastWords() string {
	b, err := os.ReadFile(s.stderr)
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-4000):])
}
