package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"dsstar/notebook/disk"
)

// A run is one of those that runs --json lists.
type run struct {
	Run     string `json:"run"`
	Claimed bool   `json:"claimed"` // another dsstar made it
}

// runs is the list of runs that a command prints as an object, with absolute paths: a client may be
// elsewhere. A run to which a link leads must be among what may be read.
func (s *server) runs(printed []byte) (json.RawMessage, error) {
	var all []map[string]any
	if err := json.Unmarshal(printed, &all); err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(r map[string]any) bool {
		for _, key := range []string{"run", "notebook"} {
			path, _ := r[key].(string)
			r[key] = disk.Absolute(path)
		}
		run := r["run"].(string)
		linked := filepath.Dir(disk.RealPath(run)) != disk.RealPath(filepath.Dir(run))
		return linked && s.MayRead(run) != nil
	})
	return json.Marshal(map[string]any{"runs": all})
}

// listed are the runs of the server's folder, the newest first.
func (s *server) listed(ctx context.Context) ([]run, error) {
	var all struct{ Runs []run }
	var text []byte
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
	return all.Runs, err
}

// folderOf returns the folder of the run that a name or path names, the newest that this user's dsstar
// made for "", or the path itself if it may be read.
func (s *server) folderOf(ctx context.Context, name string) (string, error) {
	all, err := s.listed(ctx)
	if err != nil {
		return "", err
	}
	for _, r := range all {
		named := name == filepath.Base(r.Run) || disk.Absolute(name) == r.Run
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
	return disk.Absolute(name), nil
}
