package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"dsstar/agent/files"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/site"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/notebook/disk"
)

// isURL matches the beginning of an address, perhaps after a name.
var isURL = regexp.MustCompile(`(?i)^(?:[\pL\pN_.-]+=)?([a-z][a-z0-9+.-]*)://`)

// isWeb matches addresses of files of the web, perhaps after a name.
var isWeb = regexp.MustCompile(`(?i)^(?:([\pL\pN_. -]+)=)?(https?://.+)$`)

// isFile matches addresses of files, as SQLAlchemy has them for databases that are files.
var isFile = regexp.MustCompile(`^([\pL\pN_.-]+=)?(?:(?:sqlite|duckdb):///|file://)([^?]+)`)

// hasName matches NAME=PATH.
var hasName = regexp.MustCompile(`^([\pL\pN_][\pL\pN_. -]*)=(.+)$`)

// sources returns what the values of --data name: folders, files, or the matches of patterns, each
// perhaps with a name. A single folder without a name is the data folder itself.
func (a *app) sources(ctx context.Context, j *job, given []string) (all []files.Source, err error) {
	if len(given) == 0 {
		return nil, nil
	}
	for _, arg := range given {
		s, isDatabase, err := a.database(arg)
		found := []files.Source{s}
		if web := isWeb.FindStringSubmatch(arg); !isDatabase && web != nil {
			found[0], err = a.downloadWeb(ctx, j.settings, web[2], web[1], j.progress.Wait)
		} else if !isDatabase {
			found, err = source(arg)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if len(all) == 1 && isFolder(all[0].Path) && !named(isFile.ReplaceAllString(given[0], "$1$2")) {
		all[0].Name = ""
	}
	// The run folder's relative paths to the data must not lead through links.
	for i, s := range all {
		if s.Database != "" || s.From != "" {
			continue
		}
		if all[i].Path, err = filepath.EvalSymlinks(s.Path); err != nil {
			return nil, fmt.Errorf("--data: %w", err)
		}
	}
	if all, err = files.Together(all); err != nil {
		return nil, usage.New("--data: "+err.Error()+", so that what it holds would be missing",
			usage.Again("--data", "DIR").Note("the whole folder, or end the log of a database with a checkpoint"))
	}
	return all, distinct(all)
}

// named reports whether a value of --data is NAME=PATH. A file of this very name comes first.
func named(arg string) bool {
	_, err := os.Lstat(arg)
	return err != nil && hasName.MatchString(arg)
}

// source returns what one value of --data names, by absolute paths.
func source(arg string) ([]files.Source, error) {
	arg = isFile.ReplaceAllString(arg, "$1$2")
	if m := isURL.FindStringSubmatch(arg); m != nil { // the rest may hold a password
		if engine := site.EngineOf(m[1] + "://"); engine != "" {
			return nil, usage.New("a cluster is no data: dsstar nb takes it with --engine",
				usage.Shell("dsstar nb --engine %s=%s://HOST:PORT QUESTION", engine, strings.ToLower(m[1])))
		}
		return nil, usage.New(fmt.Sprintf("data are read from files and folders of this "+
			"machine, the web, databases and buckets, not from a %s address", m[1]),
			usage.Again("--data", "PATH").Note("a copy of the data"))
	}
	name := ""
	if named(arg) {
		m := hasName.FindStringSubmatch(arg)
		name, arg = m[1], m[2]
	}
	at, err := filepath.Abs(arg)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(at)
	switch {
	case errors.Is(err, os.ErrNotExist) && strings.ContainsAny(arg, "*?["):
		return matches(arg, name)
	case errors.Is(err, os.ErrNotExist):
		return nil, usage.New("there is no such file or folder: "+arg,
			append(similar(arg, filepath.Dir(arg)), usage.Shell("ls %s", disk.Existing(at)))...)
	case err != nil:
		return nil, usage.New(fmt.Sprintf("--data: %v", err), usage.Shell("ls -ld %s", at))
	case !info.IsDir() && !info.Mode().IsRegular():
		return nil, usage.New("neither a file nor a folder: "+arg, usage.Shell("ls -ld %s", at))
	case name == "":
		name = filepath.Base(at)
	case !info.IsDir() && filepath.Ext(name) == "":
		name += filepath.Ext(at) // by which cells and descriptions know the format
	}
	return []files.Source{{Name: name, Path: at}}, nil
}

// matches returns what a pattern matches, by the names from its first variable part on.
func matches(pattern, name string) (all []files.Source, err error) {
	found, err := filepath.Glob(pattern)
	for _, match := range found {
		info, err := os.Stat(match)
		if err != nil || !info.IsDir() && !info.Mode().IsRegular() || // a broken link, a pipe
			strings.HasPrefix(filepath.Base(match), ".") {
			continue
		}
		below, err := filepath.Rel(fixed(pattern), match)
		at, absErr := filepath.Abs(match)
		if err = cmp.Or(err, absErr); err != nil {
			return nil, err
		}
		all = append(all, files.Source{Name: path.Join(name, below), Path: at})
	}
	if err != nil || len(all) == 0 {
		return nil, usage.New("nothing matches "+pattern,
			usage.Shell("ls %s", disk.Existing(fixed(pattern))))
	}
	return all, nil
}

// fixed returns the folder in which a pattern begins to match.
func fixed(pattern string) string {
	for strings.ContainsAny(pattern, "*?[") {
		pattern = filepath.Dir(pattern)
	}
	return pattern
}

// distinct rejects two sources that would have one name in the data folder, or be in one another.
func distinct(all []files.Source) error {
	known := map[string]files.Source{}
	byDepth := slices.SortedStableFunc(slices.Values(all), func(a, b files.Source) int {
		return strings.Count(a.Name, "/") - strings.Count(b.Name, "/")
	})
	for _, s := range byDepth {
		for name := s.Name; name != "." && name != ""; name = path.Dir(name) {
			if other, ok := known[name]; ok {
				at := func(s files.Source) string { return cmp.Or(s.Path, s.Database) }
				return usage.New(fmt.Sprintf("%s and %s would both be data/%s", at(other), at(s), name),
					usage.Again("--data", at(other), "--data", "NAME="+at(s)))
			}
		}
		known[s.Name] = s
	}
	return nil
}

// link makes the data folder of a run with several sources, in the run folder.
func link(folder record.Folder, task *record.Task) error {
	if task.Data == "" {
		return nil
	}
	if len(task.Sources) == 0 {
		task.Data = dataFrom(string(folder), task.Data)
		return nil
	}
	for i, s := range task.Sources {
		if s.Database == "" && s.From == "" {
			task.Sources[i].Path = dataFrom(string(folder), s.Path)
		}
	}
	if _, err := files.Link(string(folder), record.DataFolder, task.Sources, nil); err != nil {
		return err
	}
	for i, s := range task.Sources {
		if s.From != "" {
			task.Sources[i].Path = path.Join(record.DataFolder, s.Name)
		}
	}
	return nil
}

// listData lists the data of a task; none is a usage error.
func listData(ctx context.Context, task *record.Task, sources []files.Source) error {
	all, err := files.List(ctx, sources)
	if err != nil {
		return err
	}
	task.Files, task.Skipped = all.Files, all.Skipped
	where := cmp.Or(sources[0].Path, sources[0].Database)
	switch skipped := files.InWords(all.Skipped); {
	case len(all.Files) > 0:
		return nil
	case skipped != "":
		var hints []usage.Hint
		for _, s := range sources {
			if way, err := filepath.Rel(s.Name, all.Skipped[0].Name); err == nil && filepath.IsLocal(way) {
				hints = append(hints, usage.Again("--data", filepath.Join(s.Path, way)).
					Note("what is named is not skipped"))
			}
		}
		return usage.New("the data have no files except skipped ones: "+skipped, hints...)
	}
	return usage.New("there are no data files in "+where, usage.Shell("ls -la %s", where))
}
