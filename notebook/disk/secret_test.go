package disk

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestSecret: all programs that start at once get the same secret, whole, and later ones, too.
func TestSecret(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config", "key")
	secrets := make([][]byte, 20)
	var group sync.WaitGroup
	for i := range secrets {
		group.Go(func() {
			var err error
			if secrets[i], err = Secret(path, 32); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for _, secret := range secrets {
		if len(secret) != 32 || !bytes.Equal(secret, secrets[0]) {
			t.Errorf("%x, and %x", secrets[0], secret)
		}
	}
	alone(t, path, "key")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	if other, err := Secret(filepath.Join(t.TempDir(), "key"), 32); err != nil || bytes.Equal(other, secrets[0]) {
		t.Errorf("%x, %v", other, err)
	}
}

// TestSecretRefuses: only a file of this user's alone, as it was made, is a secret.
func TestSecretRefuses(t *testing.T) {
	t.Parallel()
	good := make([]byte, 32)
	for name, make := range map[string]func(path string) error{
		"link": func(path string) error {
			if _, err := Secret(path+"2", 32); err != nil {
				return err
			}
			return os.Symlink(path+"2", path)
		},
		"readable": func(path string) error { return os.WriteFile(path, good, 0o640) },
		"short":    func(path string) error { return os.WriteFile(path, good[:31], 0o600) },
		"long":     func(path string) error { return os.WriteFile(path, append(good, 0), 0o600) },
		"folder":   func(path string) error { return os.Mkdir(path, 0o700) },
		"theirs": func(path string) error {
			if err := os.WriteFile(path, good, 0o600); err != nil || os.Getuid() != 0 {
				return os.Chmod(path, 0o604) // only root can give files away
			}
			return os.Chown(path, 1, 1)
		},
	} {
		path := filepath.Join(t.TempDir(), "key")
		if err := make(path); err != nil {
			t.Fatal(err)
		}
		if secret, err := Secret(path, 32); err == nil {
			t.Errorf("%s: %x", name, secret)
		}
	}
}
