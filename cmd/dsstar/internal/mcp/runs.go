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

// runs is the list of runs that a command prints as an object, with absolute paths: a client may be
// elsewhere. A run to which a link leads must be among what may be read.
func (s *Server) runs(printed []byte) (json.RawMessage, error) {
	var all []map[string]any
	if err := json.Unmarshal(printed, &all); err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(r map[string]any) bool {
		for _, key := range []string{"run", "notebook"} {
			path, _ := r[key].(string)
			r[key] = absolute(path)
		}
		run := r["run"].(string)
		linked := filepath.Dir(disk.RealPath(run)) != disk.RealPath(filepath.Dir(run))
		return linked && s.MayRead(run) != nil
	})
	return json.Marshal(map[string]any{"runs": all})
}

// listed are the runs of the server's folder, the newest first, and as JSON.
func (s *Server) listed(ctx context.Context) (_ []run, text []byte, err error) {
	var all struct{ Runs []run }
	end, err := s.execute(ctx, []string{"runs", "--json"}, func(message) {})
	if err == nil && end.code != exitDone {
		err = errors.New(end.said)
	}
	if err == nil {
		text, err = s.runs(end.printed)
	}
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
	if name == "" {
		return "", errors.New("there is no run yet that your dsstar made: ask makes one, and list_runs " +
			"lists all")
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
	runsURI      = "dsstar://runs"
	jsonType     = "application/json"
	notebookType = "application/x-ipynb+json"
)

// A runFile is a kind of file that runs have.
type runFile struct {
	name, file, kind, text string
	path                   func(run) string
}

// runFiles are the files of a run that are resources. Traces are none of them: they hold every
// request, and with that much of the data.
var runFiles = []runFile{
	{"notebook", "notebook.ipynb", notebookType, "The notebook of a run.",
		func(r run) string { return r.Notebook }},
	{"script", "solution.py", "text/x-python", "The accepted cells of a run as plain Python.",
		func(r run) string { return filepath.Join(r.Run, "solution.py") }},
}

// addResources adds the runs, and the files of each.
func (s *Server) addResources() {
	s.sdk.AddResource(&sdk.Resource{URI: runsURI, Name: "runs", MIMEType: jsonType,
		Description: "The runs of this folder, the newest first."}, s.resource)
	for _, f := range runFiles {
		s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: runsURI + "/{name}/" + f.file,
			Name: f.name, MIMEType: f.kind, Description: f.text}, s.resource)
	}
}

// resource reads a resource.
func (s *Server) resource(ctx context.Context,
	r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri, kind := r.Params.URI, jsonType
	all, text, err := s.listed(ctx)
	if err == nil && uri != runsURI {
		text, kind, err = fileOf(all, uri)
	}
	return &sdk.ReadResourceResult{Cacheable: sdk.Cacheable{CacheScope: "private"},
		Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: kind, Text: string(text)}}}, err
}

// fileOf reads the file of a listed run that an address names.
func fileOf(all []run, uri string) (text []byte, kind string, err error) {
	name, file, _ := strings.Cut(strings.TrimPrefix(uri, runsURI+"/"), "/")
	i := slices.IndexFunc(all, func(r run) bool { return filepath.Base(r.Run) == name })
	k := slices.IndexFunc(runFiles, func(f runFile) bool { return f.file == file })
	if i < 0 || k < 0 {
		return nil, "", sdk.ResourceNotFoundError(uri)
	}
	text, err = disk.ReadPlain(runFiles[k].path(all[i]), disk.MaxDocument)
	return text, runFiles[k].kind, err
}
