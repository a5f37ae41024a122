// Package download keeps files of the web in a cache folder. What a server can cause is bounded: the
// size of a file, also unpacked, the time, and where a redirect may lead.
package download

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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

// unused is how long a file is entry that nobody has asked for.
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

// An entry is what is known of a file in the cache.
type entry struct {
	Name     string `json:"name"`
	Tag      string `json:"etag,omitempty"`
	Modified string `json:"last_modified,omitempty"`
}

// Get returns the file at a web address, from the cache folder if it has not changed since, and
// removes files that were not used for a long time. Errors are an *[Error], those of files, or
// ctx.Err().
func Get(ctx context.Context, u *url.URL, o Options) (f File, err error) {
	f.From = Public(u)
	dir := filepath.Join(o.Folder, digest(u))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return f, err
	}
	now := time.Now()
	if err := os.Chtimes(dir, now, now); err != nil {
		return f, err
	}
	sweep(o.Folder, now.Add(-unused))
	within, cancel := context.WithTimeout(ctx, o.Time)
	defer cancel()
	known, err := fetch(within, u, dir, o)
	switch {
	case ctx.Err() != nil:
		return f, ctx.Err()
	case err != nil && within.Err() != nil:
		err = &Error{Text: fmt.Sprintf("it takes longer than %s", o.Time)}
	}
	if failed, ok := errors.AsType[*Error](err); ok {
		failed.Address = f.From
	}
	f.Name, f.Path = known.Name, filepath.Join(dir, "file")
	return f, err
}

// Public is an address without what may be secret.
func Public(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

func digest(u *url.URL) string {
	sum := sha256.Sum256([]byte(u.String()))
	return hex.EncodeToString(sum[:8])
}

// fetch asks for a file. dir may hold an earlier version of it.
func fetch(ctx context.Context, u *url.URL, dir string, o Options) (known entry, err error) {
	known = read(dir)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return known, &Error{Text: "the address is not valid"}
	}
	if known.Tag != "" {
		request.Header.Set("If-None-Match", known.Tag)
	}
	if known.Modified != "" {
		request.Header.Set("If-Modified-Since", known.Modified)
	}
	response, err := newRoute(u, o.Covers).client().Do(request)
	if err != nil {
		if sent, ok := errors.AsType[*url.Error](err); ok { // which repeats the address
			err = sent.Err
		}
		return known, &Error{Text: reason(err)}
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode == http.StatusNotModified && known.Name != "":
		return known, nil
	case response.StatusCode != http.StatusOK:
		return known, &Error{Text: response.Status, Status: response.StatusCode}
	}
	known = entry{nameOf(response, u), response.Header.Get("ETag"), response.Header.Get("Last-Modified")}
	return known, store(dir, known, response, o)
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

// read returns what dir has; the zero value: nothing whole.
func read(dir string) (k entry) {
	content, err := os.ReadFile(filepath.Join(dir, "download.json"))
	if err != nil || json.Unmarshal(content, &k) != nil {
		return entry{}
	}
	if _, err := os.Stat(filepath.Join(dir, "file")); err != nil {
		return entry{}
	}
	return k
}

// store writes what a server sends, whole or not at all.
func store(dir string, k entry, response *http.Response, o Options) error {
	content, err := contentOf(response, k.Name)
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(dir, "part-")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // nothing once it is renamed
	size := response.ContentLength
	if most := min(o.Limit, o.Room); size <= most {
		size, err = io.Copy(temporary, io.LimitReader(content, most+1))
	}
	closed := temporary.Close()
	switch {
	case size > o.Limit:
		return &Error{Text: "it is larger than " + human.Bytes(o.Limit),
			Size: max(response.ContentLength, 2*o.Limit)}
	case size > o.Room:
		return &Error{Text: fmt.Sprintf("there is room for %s, and it is larger", human.Bytes(o.Room)),
			Full: true}
	case err != nil:
		return &Error{Text: reason(err)}
	case closed != nil:
		return closed
	}
	about, err := json.Marshal(k)
	if err != nil {
		return err
	}
	// Without the description the file counts as missing.
	_ = os.Remove(filepath.Join(dir, "download.json"))
	if err := os.Rename(temporary.Name(), filepath.Join(dir, "file")); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "download.json"), about, 0o600)
}

// contentOf returns the content of the file called name that a server sends, without the packing
// that is only for the way.
func contentOf(response *http.Response, name string) (io.Reader, error) {
	packing := strings.ToLower(response.Header.Get("Content-Encoding"))
	switch {
	case packing == "" || packing == "identity" || packing == "gzip" && strings.HasSuffix(name, ".gz"):
		return response.Body, nil
	case packing != "gzip":
		return nil, &Error{Text: "it comes packed as " + ui.Printable(packing) + ", unasked"}
	}
	packed := &counted{Reader: response.Body}
	content, err := gzip.NewReader(packed)
	if err != nil {
		return nil, &Error{Text: "it cannot be unpacked: " + err.Error()}
	}
	return &unpacking{&counted{Reader: content}, packed}, nil
}

// counted counts the bytes that are read.
type counted struct {
	io.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// unpacking fails once its content is many times larger than what has come. Tables shrink to a
// tenth, rarely to a fiftieth.
type unpacking struct{ content, packed *counted }

func (u *unpacking) Read(p []byte) (int, error) {
	n, err := u.content.Read(p)
	if u.content.n > max(64<<20, 100*u.packed.n) {
		return 0, errors.New("it unpacks to more than a hundred times its size")
	}
	return n, err
}

// sweep removes the files of the cache that were last asked for before then, and those that killed
// programs have left in part.
func sweep(folder string, then time.Time) {
	before := func(at string, then time.Time) bool {
		info, err := os.Lstat(at)
		return err == nil && info.ModTime().Before(then)
	}
	all, _ := filepath.Glob(filepath.Join(folder, "*"))
	for _, dir := range all {
		if before(dir, then) {
			_ = os.RemoveAll(dir) // what stays is tried again
		}
	}
	parts, _ := filepath.Glob(filepath.Join(folder, "*", "part-*"))
	for _, part := range parts {
		if before(part, time.Now().Add(-24*time.Hour)) {
			_ = os.Remove(part)
		}
	}
}
