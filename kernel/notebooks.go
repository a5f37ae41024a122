package kernel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"dsstar/notebook/disk"
)

// ErrOutside is returned by [Server.Path], wrapped, for a file that is not in the server's folder.
var ErrOutside = errors.New("the server does not have it in its folder")

// Path returns the server's path of a local file: relative to the server's root, if that is known.
// Otherwise it asks the server whether it has a file with the same content at any suffix of the
// path, the longest first.
func (s Server) Path(ctx context.Context, file string) (string, error) {
	if s.Root != "" {
		path, err := relative(s.Root, file)
		if err != nil {
			return "", fmt.Errorf("%s: %w", file, ErrOutside)
		}
		return path, nil
	}
	data, err := disk.ReadFile(file, disk.MaxDocument)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	parts := strings.Split(strings.Trim(filepath.ToSlash(file), "/"), "/")
	for i := range parts {
		path := strings.Join(parts[i:], "/")
		if hash, err := s.hash(ctx, path); err != nil {
			return "", err
		} else if hash == hex.EncodeToString(sum[:]) {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: %w", file, ErrOutside)
}

// relative returns the path of file relative to the folder root that it is in, after resolving
// links.
func relative(root, file string) (string, error) {
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(file)); err == nil {
		file = filepath.Join(real, filepath.Base(file))
	}
	path, err := filepath.Rel(root, file)
	if err != nil || !filepath.IsLocal(path) {
		return "", ErrOutside
	}
	return filepath.ToSlash(path), nil
}

// Has reports whether a local path, which need not exist, is in the server's folder. It is false if
// that folder is not known.
func (s Server) Has(path string) bool {
	_, err := relative(s.Root, path)
	return s.Root != "" && err == nil
}

// hash returns the SHA-256 of a file on the server; "" if there is no such file.
func (s Server) hash(ctx context.Context, path string) (string, error) {
	var answer struct{ Hash string }
	err := s.do(ctx, http.MethodGet, "api/contents/"+escapePath(path)+"?content=0&hash=1", nil,
		&answer)
	if e, ok := errors.AsType[*ServerError](err); ok &&
		(e.Status == http.StatusNotFound || e.Status == http.StatusBadRequest) {
		return "", nil // a bad request: a hidden file
	}
	return answer.Hash, err
}

func escapePath(path string) string {
	parts := strings.Split(path, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}

// Register assigns a kernel to a notebook: whoever opens the notebook at this path of the server is
// connected to it. A notebook that already has a kernel keeps it, as it is its user's. Register
// returns the id of the kernel that the notebook has in the end.
func (s Server) Register(ctx context.Context, path, id string) (string, error) {
	body := map[string]any{"path": path, "name": path[strings.LastIndexByte(path, '/')+1:],
		"type": "notebook", "kernel": map[string]string{"id": id}}
	var answer struct{ Kernel struct{ ID string } }
	if err := s.do(ctx, http.MethodPost, "api/sessions", body, &answer); err != nil {
		return "", err
	}
	return answer.Kernel.ID, nil
}
