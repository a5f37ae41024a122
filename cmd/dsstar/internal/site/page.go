package site

import (
	"net/url"
	"strings"

	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel"
)

// OnPage splits s.Kernel, if it is a URL copied from a browser, into s.Server and the notebook or
// kernel that the page shows. It leaves any other name alone.
func OnPage(s *configs.Settings) error {
	u, err := url.Parse(strings.TrimSpace(s.Kernel))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil // a name
	}
	server, err := kernel.NewServer(u.String(), "")
	if err != nil { // its text may contain a token
		return usage.New("--kernel is not the URL of a notebook or kernel",
			usage.Shell("dsstar kernels"))
	}
	if named, err := kernel.NewServer(s.Server, ""); s.Server != "" &&
		(err != nil || !sameServer(named.URL, server.URL)) {
		return usage.New("--kernel is on "+server.URL+", and --server is another one",
			usage.Shell("dsstar kernels --server %s", server.URL))
	}
	name := shownOn(strings.TrimPrefix(u.Path, strings.TrimSuffix(pathOf(server.URL), "/")))
	if name == "" {
		return usage.New("--kernel: the URL names neither a notebook nor a kernel: "+server.URL,
			usage.Shell("dsstar kernels --server %s", server.URL))
	}
	if s.Kernel = name; s.Server == "" || server.Token != "" {
		s.Server = address(server)
	}
	return nil
}

func pathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Path
}

// address returns a server's URL with its token, as in the settings.
func address(s kernel.Server) string {
	if s.Token == "" {
		return s.URL
	}
	return s.URL + "?token=" + url.QueryEscape(s.Token)
}

// shownOn returns what a page below the server's address shows: the path of a notebook, the id of a
// kernel, or "" for neither. JupyterLab has /lab/tree/PATH, in a workspace
// /lab/workspaces/NAME/tree/PATH, and for a single document /doc/tree/PATH; Notebook 7 and earlier
// have /notebooks/PATH; the API has /api/kernels/ID.
func shownOn(path string) string {
	path = strings.Trim(path, "/")
	for _, page := range []string{"lab/tree/", "doc/tree/", "notebooks/", "tree/",
		"nbclassic/notebooks/"} {
		if notebook, ok := strings.CutPrefix(path, page); ok {
			return document(notebook)
		}
	}
	for _, page := range []string{"lab/workspaces/", "doc/workspaces/"} {
		if rest, ok := strings.CutPrefix(path, page); ok {
			_, notebook, _ := strings.Cut(rest, "/tree/")
			return document(notebook)
		}
	}
	if id, ok := strings.CutPrefix(path, "api/kernels/"); ok {
		id, _, _ = strings.Cut(id, "/")
		return id
	}
	return ""
}

// document returns a notebook's path without the drive that real-time collaboration prepends; "" if
// path is not a notebook's.
func document(path string) string {
	if path = strings.TrimPrefix(path, "RTC:"); strings.HasSuffix(path, ".ipynb") {
		return path
	}
	return ""
}
