package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"dsstar/agent/files"
	"dsstar/cmd/dsstar/internal/term"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/notebook/human"
)

// webSilence bounds how long a web server may send nothing.
const webSilence = time.Minute

// A download is a file of the web in the cache folder, and what its server said of it.
type download struct {
	Name     string `json:"name"`
	Tag      string `json:"etag,omitempty"`
	Modified string `json:"last_modified,omitempty"`
}

// downloadError is a web server that does not give a file.
type downloadError struct {
	status int // 0: no answer
	text   string
	shown  string // the address without what may be secret
}

func (e *downloadError) Error() string { return "download " + e.shown + ": " + e.text }

// downloadWeb returns the file at a web address, from the cache folder if it has not changed since. name
// replaces its own name; say tells of what takes time.
func (a *app) downloadWeb(ctx context.Context, address, name string,
	say func(string)) (s files.Source, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return s, usage.New("--data: the web address cannot be read",
			usage.Again("--data", "https://HOST/FILE"))
	}
	public := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	fail := func(status int, text string) error { return &downloadError{status, text, public.String()} }
	sum := sha256.Sum256([]byte(address))
	dir := filepath.Join(a.CacheDir, "downloads", hex.EncodeToString(sum[:8]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return s, err
	}
	known := readDownload(dir)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return s, fail(0, "the address is not valid")
	}
	if known.Name != "" {
		if known.Tag != "" {
			request.Header.Set("If-None-Match", known.Tag)
		}
		if known.Modified != "" {
			request.Header.Set("If-Modified-Since", known.Modified)
		}
	}
	say("downloading " + public.String())
	response, err := webClient.Do(request)
	if err != nil {
		var failed *url.Error // which repeats the address
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return s, fail(0, err.Error())
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode == http.StatusNotModified && known.Name != "":
	case response.StatusCode != http.StatusOK:
		return s, fail(response.StatusCode, response.Status)
	default:
		known = download{Name: nameOf(response, u), Tag: response.Header.Get("ETag"),
			Modified: response.Header.Get("Last-Modified")}
		if err := keepDownload(dir, known, response); err != nil {
			return s, fail(0, err.Error())
		}
	}
	if name = cmp.Or(name, known.Name); filepath.Ext(name) == "" {
		name += filepath.Ext(known.Name)
	}
	file := filepath.Join(dir, "file")
	return files.Source{Name: name, Path: file, From: public.String(), Download: file}, nil
}

// webClient waits for a server that has stopped sending no longer than webSilence.
var webClient = &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment,
	ResponseHeaderTimeout: webSilence, TLSHandshakeTimeout: 20 * time.Second,
	DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := (&net.Dialer{Timeout: 20 * time.Second}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return impatient{c}, nil
	}}}

// impatient is a connection whose reads end when nothing comes.
type impatient struct{ net.Conn }

func (c impatient) Read(b []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(webSilence)); err != nil {
		return 0, err
	}
	return c.Conn.Read(b)
}

// nameOf is the name of the file that a server sends.
func nameOf(response *http.Response, asked *url.URL) string {
	_, parameters, _ := mime.ParseMediaType(response.Header.Get("Content-Disposition"))
	for _, name := range []string{parameters["filename"], path.Base(asked.Path),
		path.Base(response.Request.URL.Path)} {
		name = path.Base(strings.ReplaceAll(name, `\`, "/"))
		if strings.Trim(name, "./") != "" && name == term.Printable(name) {
			return name
		}
	}
	return "download"
}

func readDownload(dir string) (d download) {
	content, err := os.ReadFile(filepath.Join(dir, "download.json"))
	if err != nil || json.Unmarshal(content, &d) != nil {
		return download{}
	}
	if _, err := os.Stat(filepath.Join(dir, "file")); err != nil {
		return download{}
	}
	return d
}

// keepDownload writes what a server sends, whole or not at all.
func keepDownload(dir string, d download, response *http.Response) (err error) {
	temporary, err := os.CreateTemp(dir, "part-")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // nothing once it is renamed
	n, err := io.Copy(temporary, response.Body)
	if err = errors.Join(err, temporary.Close()); err != nil {
		return err
	}
	if response.ContentLength > 0 && n != response.ContentLength {
		return fmt.Errorf("it ended after %s of %s", human.Bytes(n), human.Bytes(response.ContentLength))
	}
	about, err := json.Marshal(d)
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
