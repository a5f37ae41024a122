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

// Leave is Close, but leaves a kernel of ours running with its state: a process for which
// Options.KeepIn was set, or a kernel of a server. Whoever connects to it may end it. notebook is
// the path that those who look for kernels see. The error is that the kernel has ended, or could
// not be made known. For a kernel that is not ours Leave is Close.
//
// Until this program ends, one goroutine waits for the end of the process, as only its parent can.
func (k *Kernel) Leave(notebook string) error {
	return k.closeBy(func(s *session) error { return s.release(notebook) })
}

// release ends the session and keeps its kernel running.
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
	l.Process.Detach()
	return nil
}

func (g *guest) release(string) error { return nil }

func (r *remote) release(string) error {
	r.own = false
	return nil
}

// lastingFile returns a new name for a connection file in Jupyter's runtime
// folder, which is made if it is missing.
func lastingFile(runtime string) (string, error) {
	if err := os.MkdirAll(runtime, 0o700); err != nil {
		return "", fmt.Errorf("make Jupyter's runtime folder: %w", err)
	}
	return filepath.Join(runtime, "kernel-"+uuid.NewString()+".json"), nil
}
