// Package download keeps files of the web in a cache folder. What a server can cause is bounded: the
// size of a file, also unpacked, the time, and where a redirect may lead.
package download

import (
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
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
	dir := filepath.Join(o.Folder, fmt.Sprintf("%x", sha256.Sum256([]byte(u.String())))[:16])
	now := time.Now()
	if err := cmp.Or(os.MkdirAll(dir, 0o700), os.Chtimes(dir, now, now)); err != nil {
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
		return known, &Error{Text: err.Error()}
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
	if err == nil {
		_, err = os.Stat(filepath.Join(dir, "file"))
	}
	if err != nil || json.Unmarshal(content, &k) != nil {
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
	part, err := os.CreateTemp(o.Folder, "part-") // which sweep removes if this program is killed
	if err != nil {
		return err
	}
	defer os.Remove(part.Name()) // nothing once it is renamed
	size := response.ContentLength
	if most := min(o.Limit, o.Room); size <= most {
		size, err = io.Copy(part, io.LimitReader(content, most+1))
	}
	closed := part.Close()
	switch {
	case size > o.Limit:
		return &Error{Text: "it is larger than " + human.Bytes(o.Limit),
			Size: max(response.ContentLength, 2*o.Limit)}
	case size > o.Room:
		return &Error{Text: fmt.Sprintf("there is room for %s, and it is larger", human.Bytes(o.Room)),
			Full: true}
	case err != nil:
		return &Error{Text: err.Error()}
	}
	about, err := json.Marshal(k)
	if err = errors.Join(err, closed); err != nil {
		return err
	}
	// Without the description the file counts as missing.
	_ = os.Remove(filepath.Join(dir, "download.json"))
	if err := os.Rename(part.Name(), filepath.Join(dir, "file")); err != nil {
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
	u := &unpacking{packed: &io.LimitedReader{R: response.Body, N: math.MaxInt64}}
	var err error
	if u.content, err = gzip.NewReader(u.packed); err != nil {
		return nil, &Error{Text: "it cannot be unpacked: " + err.Error()}
	}
	return u, nil
}

// unpacking fails once its content is many times larger than what has come. Tables shrink to a
// tenth, rarely to a fiftieth.
type unpacking struct {
	content *gzip.Reader
	packed  *io.LimitedReader // its N falls with each byte
	read    int64
}

func (u *unpacking) Read(p []byte) (int, error) {
	n, err := u.content.Read(p)
	u.read += int64(n)
	if u.read > max(64<<20, 100*(math.MaxInt64-u.packed.N)) {
		return 0, errors.New("it unpacks to more than a hundred times its size")
	}
	return n, err
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
