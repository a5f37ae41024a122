package main

import (
	"cmp"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"dsstar/agent/files"
	"dsstar/cmd/dsstar/internal/site"
	"dsstar/cmd/dsstar/internal/usage"
)

// noDatabases are schemes of other addresses.
var noDatabases = []string{"http", "https", "ftp", "sftp", "ssh", "gcs", "abfs", "abfss",
	"hdfs", "file", "sc", "tcp", "ray"}

// fromVariable matches NAME=env:VARIABLE, which names an address without showing it.
var fromVariable = regexp.MustCompile(`^(?:([\pL\pN_.-]+)=)?env:([A-Za-z_][A-Za-z0-9_]*)$`)

// database returns the source that an argument of --data names if it is the address of a database, and
// has cells reach it. No error repeats the address, as it may hold a password.
func (a *app) database(arg string) (s files.Source, ok bool, err error) {
	name, address := "", arg
	if m := fromVariable.FindStringSubmatch(arg); m != nil {
		if name, address = m[1], a.host.Getenv(m[2]); address == "" {
			return s, true, usage.New("--data: the variable "+m[2]+" is not set",
				usage.Shell("export %s=ADDRESS   # dialect, ://, user and password, host and database", m[2]))
		}
	} else if m := isURL.FindStringSubmatch(arg); m == nil || isFile.MatchString(arg) ||
		slices.Contains(noDatabases, strings.ToLower(m[1])) {
		return s, false, nil
	} else if before, after, found := strings.Cut(arg, "="); found && !strings.Contains(before, "://") {
		name, address = before, after
	}
	d, shown, err := a.host.FindDatabase(address)
	if err != nil {
		return s, true, err
	}
	u, err := url.Parse(shown)
	if err != nil {
		return s, true, err
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
	return s, true, nil
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
