package main

import (
	"cmp"
	"context"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dsstar/agent/files"
	"dsstar/cmd/dsstar/internal/download"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/notebook/disk"
)

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
