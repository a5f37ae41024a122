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

// runs are those that a command prints, the newest first, with absolute paths: a client may be
// elsewhere. A run to which a link leads must be among what may be read.
func (s *Server) runs(printed []byte) (all []map[string]any, err error) {
	err = json.Unmarshal(printed, &all)
	return slices.DeleteFunc(all, func(r map[string]any) bool {
		for _, key := range []string{"run", "notebook"} {
			path, _ := r[key].(string)
			r[key] = disk.Absolute(path)
		}
		run := r["run"].(string)
		linked := filepath.Dir(disk.RealPath(run)) != disk.RealPath(filepath.Dir(run))
		return linked && s.MayRead(run) != nil
	}), err
}

// listRuns makes an object of them.
func (s *Server) listRuns(printed []byte) (json.RawMessage, error) {
	all, err := s.runs(printed)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"runs": all})
}

// folderOf returns the folder of the run that a name or path names, the newest that this user's dsstar
// made for "", or the path itself if it may be read.
func (s *Server) folderOf(ctx context.Context, name string) (string, error) {
	end, err := s.execute(ctx, []string{"runs", "--json"}, func(message) {})
	if err == nil && end.code != exitDone {
		err = errors.New(end.said)
	}
	if err != nil {
		return "", err
	}
	all, err := s.runs(end.printed)
	if err != nil {
		return "", err
	}
	for _, r := range all {
		run := r["run"].(string)
		named := name == filepath.Base(run) || disk.Absolute(name) == run
		if name == "" && r["claimed"] != true || name != "" && named {
			return run, nil
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
