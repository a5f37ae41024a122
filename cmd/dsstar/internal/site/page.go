package site

import (
	"cmp"
	"net/url"
	"strings"

	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/kernel"
	"dsstar/notebook/lazy"
)

// onPage matches what pages below a server's address show: a notebook, without the drive that
// real-time collaboration prepends, or a kernel. JupyterLab has /lab/tree/PATH, in a workspace
// /lab/workspaces/NAME/tree/PATH, and for a single document /doc/tree/PATH; Notebook 7 and earlier
// have /notebooks/PATH; the API has /api/kernels/ID.
var onPage = lazy.Regexp(`^/?(?:(?:(?:lab|doc)/(?:workspaces/[^/]+/)?)?tree|` +
	`(?:nbclassic/)?notebooks)/(?:RTC:)?(.*\.ipynb)/?$|^/?api/kernels/([^/]+)`)

// OnPage splits s.Kernel, if it is a URL copied from a browser, into s.Server and the notebook or
// kernel that the page shows. It leaves any other name alone.
func OnPage(s *configs.Settings) error {
	u, err := url.Parse(strings.TrimSpace(s.Kernel))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil // a name
	}
	server, err := kernel.NewServer(u.String(), "")
	at, unread := url.Parse(server.URL)
	if cmp.Or(err, unread) != nil { // its text may contain a token
		return usage.New("--kernel is not the URL of a notebook or kernel",
			usage.Shell("dsstar kernels"))
	}
	if named, err := kernel.NewServer(s.Server, ""); s.Server != "" &&
		(err != nil || !sameServer(named.URL, server.URL)) {
		return usage.New("--kernel is on "+server.URL+", and --server is another one",
			usage.Shell("dsstar kernels --server %s", server.URL))
	}
	shown := onPage().FindStringSubmatch(strings.TrimPrefix(u.Path, strings.TrimSuffix(at.Path, "/")))
	if shown == nil {
		return usage.New("--kernel: the URL names neither a notebook nor a kernel: "+server.URL,
			usage.Shell("dsstar kernels --server %s", server.URL))
	}
	s.Kernel = shown[1] + shown[2]
	if server.Token != "" {
		s.Server = server.URL + "?token=" + url.QueryEscape(server.Token)
	} else if s.Server == "" {
		s.Server = server.URL
	}
	return nil
}
