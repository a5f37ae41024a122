package zmq

import (
	"encoding/json"
	"strings"
	"testing"

	"dsstar/kernel/internal/wire"
)

// Connection files are read as they come: by jupyter_client, by others, by accident.
func FuzzFile(f *testing.F) {
	for _, text := range []string{
		`{"shell_port": 1, "iopub_port": 2, "stdin_port": 3, "control_port": 4, "hb_port": 5, "ip": "127.0.0.1", "key": "k",
		  "transport": "tcp", "signature_scheme": "hmac-sha256", "kernel_name": "python3", "jupyter_session": "/a/b.ipynb"}`,
		`{"shell_port": 1, "iopub_port": 2, "control_port": 4, "ip": "/tmp/k", "transport": "ipc", "key": ""}`,
		`{"shell_port": 99999999999, "ip": ["::1"]}`,
		`{"transport": null, "ip": "::1", "shell_port": -1}`, `[]`, `null`, ``,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parse(data)
		if err != nil || c.Check() != nil {
			return
		}
		for _, at := range c.endpoints() {
			if !strings.HasPrefix(at, "watched://") && !strings.HasPrefix(at, "watched-ipc://") {
				t.Errorf("endpoint %q", at)
			}
		}
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := parse(b); err != nil || again != c {
			t.Errorf("%+v becomes %+v, %v", c, again, err)
		}
	})
}

func TestEndpoints(t *testing.T) {
	for ip, want := range map[string]string{
		"127.0.0.1": "watched://127.0.0.1:7", "*": "watched://127.0.0.1:7",
		"0.0.0.0": "watched://127.0.0.1:7",
		"::1":     "watched://[::1]:7", "host": "watched://host:7",
	} {
		c := File{Transport: "tcp", IP: ip, ShellPort: 7}
		if got := c.endpoints()[wire.Shell]; got != want {
			t.Errorf("%s: %s", ip, got)
		}
	}
}
