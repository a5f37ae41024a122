package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"dsstar/agent/files"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/download"
	"dsstar/cmd/dsstar/internal/site"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/notebook/disk"
)

// hasName matches NAME=PLACE.
var hasName = regexp.MustCompile(`^([\pL\pN_][\pL\pN_. -]*)=(.+)$`)

// isURL matches the beginning of an address.
var isURL = regexp.MustCompile(`(?i)^([a-z][a-z0-9+.-]*)://`)

// isFile matches addresses of files, as SQLAlchemy has them for databases that are files.
var isFile = regexp.MustCompile(`^(?:(?:sqlite|duckdb):///|file://)([^?]+)`)

// isVariable matches env:VARIABLE, which names an address without showing it.
var isVariable = regexp.MustCompile(`^env:([A-Za-z_][A-Za-z0-9_]*)$`)

// noDatabases are schemes of other addresses.
var noDatabases = []string{"http", "https", "ftp", "sftp", "ssh", "gcs", "abfs", "abfss",
	"hdfs", "file", "sc", "tcp", "ray"}

// split takes a value of --data apart: its name, or "", and the path or address that it names. A file of
// this very name comes before a path.
func split(arg string) (name, place string) {
	if m := hasName.FindStringSubmatch(arg); m != nil {
		if _, err := os.Lstat(arg); err != nil || isAddress(m[2]) {
			name, arg = m[1], m[2]
		}
	}
	return name, isFile.ReplaceAllString(arg, "$1")
}

// schemeOf returns the scheme of an address; "" if it is a path.
func schemeOf(place string) string {
	if m := isURL.FindStringSubmatch(place); m != nil {
		return strings.ToLower(m[1])
	}
	return ""
}

// sources returns what the values of --data name: folders, files, or the matches of patterns, each
// perhaps with a name. A single folder without a name is the data folder itself.
func (a *app) sources(ctx context.Context, j *job, given []string) (all []files.Source, err error) {
	if len(given) == 0 {
		return nil, nil
	}
	for _, arg := range given {
		name, place := split(arg)
		found := make([]files.Source, 1)
		switch scheme := schemeOf(place); {
		case scheme == "http" || scheme == "https":
			found[0], err = a.downloadWeb(ctx, j.settings, place, name, j.progress.Wait)
		case scheme != "" && !slices.Contains(noDatabases, scheme) || isVariable.MatchString(place):
			found[0], err = a.database(name, place)
		default:
			found, err = source(name, place)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if name, _ := split(given[0]); len(all) == 1 && name == "" && isFolder(all[0].Path) {
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

// source returns what is at a path or matches a pattern, by absolute paths.
func source(name, arg string) ([]files.Source, error) {
	if scheme := schemeOf(arg); scheme != "" { // the rest may hold a password
		if engine := site.EngineOf(scheme + "://"); engine != "" {
			return nil, usage.New("a cluster is no data: dsstar nb takes it with --engine",
				usage.Shell("dsstar nb --engine %s=%s://HOST:PORT QUESTION", engine, scheme))
		}
		return nil, usage.New(fmt.Sprintf("data are read from files and folders of this "+
			"machine, the web, databases and buckets, not from a %s address", scheme),
			usage.Again("--data", "PATH").Note("a copy of the data"))
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
		return nil, usage.New("nothing matches "+pattern, usage.Shell("ls %s", disk.Existing(fixed(pattern))))
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

// database returns the source at the address of a database or bucket, or of the variable that holds it,
// and has cells reach it. No error repeats the address, as it may hold a password.
func (a *app) database(name, address string) (s files.Source, err error) {
	if m := isVariable.FindStringSubmatch(address); m != nil {
		if address = a.host.Getenv(m[1]); address == "" {
			return s, usage.New("--data: the variable "+m[1]+" is not set",
				usage.Shell("export %s=ADDRESS   # dialect, ://, user and password, host and database", m[1]))
		}
	}
	d, shown, err := a.host.FindDatabase(address)
	if err != nil {
		return s, err
	}
	u, err := url.Parse(shown)
	if err != nil {
		return s, err
	}
	if strings.Trim(u.Path, "/") != "" {
		name = cmp.Or(name, path.Base(u.Path))
	}
	name = cmp.Or(name, u.Hostname())
	s = files.Source{Name: name + files.DatabaseEnding, Database: shown}
	if site.IsBucket(address) {
		s.Name = name + files.BucketEnding
	}
	d.Variable = s.Variable()
	a.host.Databases = append(a.host.Databases, d)
	return s, nil
}

// engine has the cells of a job reach the cluster that --engine names. No error repeats the address,
// as it may hold a token.
func (a *app) engine(arg string, j *job) error {
	if arg == "" {
		return nil
	}
	name, address, ok := strings.Cut(arg, "=")
	if strings.Contains(name, "://") {
		name, address, ok = site.EngineOf(arg), arg, true
	}
	if known := site.EngineOf(address); !ok || known == "" || known != name {
		return usage.New("--engine: neither of Spark Connect, Dask nor Ray",
			usage.Again("--engine", "spark=sc://HOST:15002"),
			usage.Again("--engine", "dask=tcp://HOST:8786"),
			usage.Again("--engine", "ray=ray://HOST:10001"))
	}
	d, shown, err := a.host.FindDatabase(address)
	if err != nil {
		return err
	}
	s := files.Source{Name: name + files.ClusterEnding, Database: shown}
	d.Variable = s.Variable()
	a.host.Databases = append(a.host.Databases, d)
	if len(j.sources) == 1 && j.sources[0].Name == "" {
		j.sources[0].Name = filepath.Base(j.sources[0].Path) // no longer the data folder itself
	}
	j.sources = append(j.sources, s)
	return nil
}

const (
	downloadTime = time.Hour // for a file of the web
	leftFree     = 500 << 20 // bytes on the disk that a download leaves
)

// downloadWeb returns the file at a web address, from the cache folder if it has not changed since.
// name replaces its own name; say tells of what takes time.
func (a *app) downloadWeb(ctx context.Context, s *configs.Settings, address, name string,
	say func(string)) (files.Source, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return files.Source{}, usage.New("--data: the web address cannot be read",
			usage.Again("--data", "https://HOST/FILE"))
	}
	if err := a.checkCache(); err != nil {
		return files.Source{}, err
	}
	say("downloading " + download.Public(u))
	const noLimit = math.MaxInt64 - 1
	o := download.Options{Folder: filepath.Join(a.host.CacheDir, "downloads"), Time: downloadTime,
		Limit: cmp.Or(int64(s.MaxDownload), noLimit), Room: noLimit}
	if free, err := disk.Free(disk.Existing(o.Folder)); err == nil {
		o.Room = max(0, free-leftFree)
	}
	if a.roots != nil {
		o.Covers = func(address string) bool {
			return slices.ContainsFunc(a.roots, func(root string) bool { return covers(root, address) })
		}
	}
	f, err := download.Get(ctx, u, o)
	if err != nil {
		return files.Source{}, err
	}
	if name = cmp.Or(name, f.Name); filepath.Ext(name) == "" {
		plain := strings.TrimSuffix(f.Name, ".gz")
		name += filepath.Ext(plain) + f.Name[len(plain):]
	}
	return files.Source{Name: name, Path: f.Path, From: f.From, Download: f.Path}, nil
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
