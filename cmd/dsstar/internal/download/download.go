// Package download keeps files of the web in a cache folder. What a server can cause is bounded: the
// size of a file, the time, and where a redirect may lead.
package download

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/notebook/human"
)

// unused is how long a file stays that nobody asks for.
const unused = 30 * 24 * time.Hour

// Options are the bounds of a download.
type Options struct {
	Folder string        // of the cache
	Limit  int64         // bytes of a file
	Room   int64         // bytes that there is room for in Folder
	Time   time.Duration // for the whole file
	// Covers reports whether a redirect may lead to an address; nil: to any
	Covers func(address string) bool
}

// A File is a file of the web in the cache folder.
type File struct {
	Name string // its own name
	Path string
	From string // its address, without what may be secret
}

// An Error is a server that does not give a file, or one that is too large.
type Error struct {
	Address string // without what may be secret
	Text    string
	Status  int   // of HTTP; 0: none came
	Size    int64 // of the file, or a larger limit to try; 0: the limit is not the reason
	Full    bool  // there is no room in the folder
}

func (e *Error) Error() string { return "download " + e.Address + ": " + e.Text }

// Get returns the file at a web address, from the cache folder if it has not changed since, and
// removes files that were not used for a long time. Errors are an *[Error], those of files, or
// ctx.Err().
func Get(ctx context.Context, u *url.URL, o Options) (f File, err error) {
	f.From = Public(u)
	dir := filepath.Join(o.Folder, fmt.Sprintf("%x", sha256.Sum256([]byte(u.String())))[:16])
	now := time.Now()
	if err := cmp.Or(os.MkdirAll(dir, 0o700), os.Chtimes(dir, now, now)); err != nil {
		return f, err
	}
	sweep(o.Folder, now.Add(-unused))
	within, cancel := context.WithTimeout(ctx, o.Time)
	defer cancel()
	f.Path, err = fetch(within, u, dir, o)
	switch {
	case ctx.Err() != nil:
		return f, ctx.Err()
	case err != nil && within.Err() != nil:
		err = &Error{Text: fmt.Sprintf("it takes longer than %s", o.Time)}
	}
	if failed, ok := errors.AsType[*Error](err); ok {
		failed.Address = f.From
	}
	f.Name = filepath.Base(f.Path)
	return f, err
}

// Public is an address without what may be secret.
func Public(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// fetch asks for a file, and returns its path in dir, which may hold an earlier version: it is as old as
// the server has said, or as its download.
func fetch(ctx context.Context, u *url.URL, dir string, o Options) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", &Error{Text: "the address is not valid"}
	}
	known, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, path := range known {
		if info, err := os.Stat(path); err == nil {
			request.Header.Set("If-Modified-Since", info.ModTime().UTC().Format(http.TimeFormat))
		}
	}
	response, err := newRoute(u, o.Covers).client().Do(request)
	if err != nil {
		if sent, ok := errors.AsType[*url.Error](err); ok { // which repeats the address
			err = sent.Err
		}
		return "", &Error{Text: err.Error()}
	}
	defer response.Body.Close()
	packing := strings.ToLower(response.Header.Get("Content-Encoding"))
	name := nameOf(response, u)
	switch {
	case response.StatusCode == http.StatusNotModified && len(known) > 0:
		return known[0], nil
	case response.StatusCode != http.StatusOK:
		return "", &Error{Text: response.Status, Status: response.StatusCode}
	case packing == "gzip": // unasked: it is not unpacked here, but by what reads the file
		name = strings.TrimSuffix(name, ".gz") + ".gz"
	case packing != "" && packing != "identity":
		return "", &Error{Text: "it comes packed as " + ui.Printable(packing) + ", unasked"}
	}
	return store(dir, name, response, o)
}

// nameOf is the name of the file that a server sends.
func nameOf(response *http.Response, asked *url.URL) string {
	_, parameters, _ := mime.ParseMediaType(response.Header.Get("Content-Disposition"))
	for _, name := range []string{parameters["filename"], path.Base(asked.Path),
		path.Base(response.Request.URL.Path)} {
		name = path.Base(strings.ReplaceAll(name, `\`, "/"))
		if strings.Trim(name, "./") != "" && name == ui.Printable(name) {
			return name
		}
	}
	return "download"
}

// store writes what a server sends, whole or not at all, as the only file of dir.
func store(dir, name string, response *http.Response, o Options) (string, error) {
	part, err := os.CreateTemp(o.Folder, "part-") // which sweep removes if this program is killed
	if err != nil {
		return "", err
	}
	defer os.Remove(part.Name()) // nothing once it is renamed
	size := response.ContentLength
	if most := min(o.Limit, o.Room); size <= most {
		size, err = io.Copy(part, io.LimitReader(response.Body, most+1))
	}
	closed := part.Close()
	switch {
	case size > o.Limit:
		return "", &Error{Text: "it is larger than " + human.Bytes(o.Limit),
			Size: max(response.ContentLength, 2*o.Limit)}
	case size > o.Room:
		return "", &Error{Text: fmt.Sprintf("there is room for %s, and it is larger", human.Bytes(o.Room)),
			Full: true}
	case err != nil:
		return "", &Error{Text: err.Error()}
	case closed != nil:
		return "", closed
	}
	if changed, err := http.ParseTime(response.Header.Get("Last-Modified")); err == nil {
		_ = os.Chtimes(part.Name(), changed, changed) // without it, the file is as old as its download
	}
	to := filepath.Join(dir, name)
	all, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, old := range all {
		if old != to {
			_ = os.Remove(old)
		}
	}
	return to, os.Rename(part.Name(), to)
}

// sweep removes what was last asked for before then.
func sweep(folder string, then time.Time) {
	all, _ := filepath.Glob(filepath.Join(folder, "*"))
	for _, at := range all {
		if info, err := os.Lstat(at); err == nil && info.ModTime().Before(then) {
			_ = os.RemoveAll(at) // what stays is tried again
		}
	}
}
