package kernel

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2/maybe"
	"github.com/google/uuid"
)

// Leave closes k but leaves a kernel of ours running, with its state: a process started with
// Options.KeepIn, or a kernel on a server. Any client may then end it. notebook is the path shown
// to those who look for kernels. An error means that the kernel has ended or could not be
// registered. For a kernel that is not ours, Leave is Close.
//
// Until this program ends, one goroutine waits for the process to end, as only its parent can.
func (k *Kernel) Leave(notebook string) error {
	return k.closeBy(func(s *session) error { return s.release(notebook) })
}

// release ends the session and leaves its kernel running.
func (s *session) release(notebook string) error {
	if s.guest != nil {
		return s.shutdown()
	}
	var err error
	if how := s.fell(); how != "" {
		err = fmt.Errorf("the kernel has ended: %s", how)
	} else if ended(s.host) {
		how, lost := s.host.fate()
		err = fmt.Errorf("the kernel has ended: %s", how)
		if lost != nil {
			err = lost
		}
	} else {
		err = s.host.release(notebook)
	}
	return errors.Join(err, s.end())
}

func (l *local) release(notebook string) error {
	if !l.keep {
		return errors.New("the kernel was started to end with this program")
	}
	c := l.conn // ipykernel has rewritten the file, with less in it
	c.Session = notebook
	content, err := json.Marshal(c)
	if err == nil {
		err = maybe.WriteFile(l.file, content, 0o600) // replaces anything that cells have put there
	}
	if err != nil {
		return fmt.Errorf("make the kernel known: %w", err)
	}
	l.left = true
	l.Process.LeaveRunning()
	return nil
}

func (g *guest) release(string) error { return nil }

func (r *remote) release(string) error {
	r.own = false
	return nil
}

// lastingFile returns a new path for a connection file in Jupyter's runtime folder, which it
// creates if necessary.
func lastingFile(runtime string) (string, error) {
	if err := os.MkdirAll(runtime, 0o700); err != nil {
		return "", fmt.Errorf("make Jupyter's runtime folder: %w", err)
	}
	return filepath.Join(runtime, "kernel-"+uuid.NewString()+".json"), nil
}
