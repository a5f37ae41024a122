package main

import (
	"path/filepath"
	"strings"

	"dsstar/agent/files"
	"dsstar/cmd/dsstar/internal/site"
	"dsstar/cmd/dsstar/internal/usage"
)

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
