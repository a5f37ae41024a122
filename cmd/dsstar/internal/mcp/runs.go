package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"dsstar/notebook/disk"
)

// A run is one of those that runs --json lists.
type run struct {
	Run      string `json:"run"`
	Notebook string `json:"notebook"`
	Claimed  bool   `json:"claimed"` // another dsstar made it
}

// runsList is the command that lists runs, by absolute paths: a client may be elsewhere. A run to which
// a link leads must be among what may be read.
func (s *Server) runsList(words []string) command {
	return command{args: append([]string{"runs", "--json", "--"}, words...),
		change: func(printed []byte) ([]byte, error) {
			var all []map[string]any
			if err := json.Unmarshal(printed, &all); err != nil {
				return nil, err
			}
			for _, r := range all {
				for _, key := range []string{"run", "notebook"} {
					if path, ok := r[key].(string); ok {
						r[key] = absolute(path)
					}
				}
			}
			all = slices.DeleteFunc(all, func(r map[string]any) bool {
				run, _ := r["run"].(string)
				linked := filepath.Dir(disk.RealPath(run)) != disk.RealPath(filepath.Dir(run))
				return linked && s.MayRead(run) != nil
			})
			return json.Marshal(map[string]any{"runs": all})
		}}
}

// listed are the runs of the server's folder, the newest first, and as JSON.
func (s *Server) listed(ctx context.Context) ([]run, []byte, error) {
	c := s.runsList(nil)
	end, err := s.execute(ctx, c, func(message) {})
	if err == nil && end.code != exitDone {
		err = errors.New(end.said)
	}
	if err != nil {
		return nil, nil, err
	}
	var all struct{ Runs []run }
	text, err := c.change(end.printed)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	return all.Runs, text, err
}

// folderOf returns the folder of the run that a name or path names, the newest that this user's dsstar
// made for "", or the path itself if it may be read.
func (s *Server) folderOf(ctx context.Context, name string) (string, error) {
	all, _, err := s.listed(ctx)
	if err != nil {
		return "", err
	}
	for _, r := range all {
		named := name == filepath.Base(r.Run) || absolute(name) == r.Run
		if name == "" && !r.Claimed || name != "" && named {
			return r.Run, nil
		}
	}
	if strings.TrimSpace(name) == "" {
		return "", errors.New("there is no run yet that your dsstar made: ask makes one, and list_runs lists all")
	}
	if err := s.MayRead(name); err != nil {
		return "", fmt.Errorf("%w\nlist_runs lists the runs", err)
	}
	return absolute(name), nil
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

const (
	runsURI     = "dsstar://runs"
	notebookURI = runsURI + "/{name}/notebook.ipynb"
	scriptURI   = runsURI + "/{name}/solution.py"

	notebookType = "application/x-ipynb+json"
)

// addResources adds the runs. Their traces are none of them: they hold every request, and with that
// much of the data.
func (s *Server) addResources() {
	s.sdk.AddResource(&sdk.Resource{URI: runsURI, Name: "runs", MIMEType: "application/json",
		Description: "The runs of this folder, the newest first."},
		func(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			_, text, err := s.listed(ctx)
			return contents(r.Params.URI, "application/json", text), err
		})
	s.addFiles(notebookURI, "notebook", notebookType, "The notebook of a run.",
		func(r run) string { return r.Notebook })
	s.addFiles(scriptURI, "script", "text/x-python", "The accepted cells of a run as plain Python.",
		func(r run) string { return filepath.Join(r.Run, "solution.py") })
}

// addFiles adds a file of every run.
func (s *Server) addFiles(template, name, kind, text string, path func(run) string) {
	before, after, _ := strings.Cut(template, "{name}")
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: template, Name: name, MIMEType: kind,
		Description: text},
		func(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			wanted := strings.TrimSuffix(strings.TrimPrefix(r.Params.URI, before), after)
			all, _, err := s.listed(ctx)
			if err != nil {
				return nil, err
			}
			for _, listed := range all {
				if filepath.Base(listed.Run) == wanted {
					b, err := disk.ReadPlain(path(listed), disk.MaxDocument)
					return contents(r.Params.URI, kind, b), err
				}
			}
			return nil, sdk.ResourceNotFoundError(r.Params.URI)
		})
}

func contents(uri, kind string, text []byte) *sdk.ReadResourceResult {
	return &sdk.ReadResourceResult{Cacheable: sdk.Cacheable{CacheScope: "private"},
		Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: kind, Text: string(text)}}}
}
