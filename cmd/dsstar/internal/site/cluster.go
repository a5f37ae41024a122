package site

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/kernel/sandbox"
)

// engines are the schemes of the addresses of clusters.
var engines = map[string]string{"sc": "spark", "tcp": "dask", "ray": "ray"}

// EngineOf returns the engine of the cluster at an address, "spark", "dask" or "ray"; "" if it is
// not that of a cluster.
func EngineOf(address string) string {
	scheme, _, _ := strings.Cut(address, "://")
	return engines[strings.ToLower(scheme)]
}

// findCluster returns the cluster at an address. Parameters of Spark Connect follow a semicolon and
// may hold a token: they are not shown.
func findCluster(engine string, u *url.URL) (d Database, shown string, err error) {
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil || port == 0 || u.Hostname() == "" || u.User != nil {
		scheme := strings.ToLower(u.Scheme)
		return d, "", usage.New(fmt.Sprintf("--engine: the address of a %s cluster is %s://HOST:PORT",
			ui.Printable(engine), scheme), usage.Again("--engine", engine+"="+scheme+"://HOST:PORT"))
	}
	d = Database{Address: u.String(), Cluster: true,
		Endpoints: []sandbox.Endpoint{{Host: u.Hostname(), Port: uint16(port)}}}
	for parameter := range strings.SplitSeq(u.Path, ";") {
		if token, ok := strings.CutPrefix(parameter, "token="); ok {
			d.Token = token
		}
	}
	// gRPC's own resolver asks name servers, and reads no hosts file that the sandbox gives.
	d.More = []string{"GRPC_DNS_RESOLVER=native"}
	if engine == "ray" { // it looks at the processes above its own for uv, which cells cannot see
		d.More = append(d.More, "RAY_ENABLE_UV_RUN_RUNTIME_ENV=0")
	}
	return d, u.Scheme + "://" + u.Host, nil
}
