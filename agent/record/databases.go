package record

import (
	"slices"
	"strconv"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/files"
)

// openBuckets returns the code for buckets, of the schemes that they have.
func openBuckets(entries, schemes []string) string {
	slices.Sort(schemes)
	functions, names := "", []string{}
	for _, scheme := range slices.Compact(schemes) {
		functions += "\n" + part(scheme) + "\n\n"
		names = append(names, brief.Python(scheme)+": open_"+scheme)
	}
	return part("buckets", "OPENERS", functions, "SCHEME", schemes[0],
		"NAMES", strings.Join(names, ", "), "VARIABLES", "{"+strings.Join(entries, ", ")+"}")
}

// addresses are examples of clusters' addresses, by their engines.
var addresses = map[string]string{"spark": "sc://host:15002", "dask": "tcp://host:8786", "ray": "ray://host:10001"}

// StatementSeconds is how long a statement of a cell may take in a database, and mostRows how long its
// result may be.
const (
	StatementSeconds = 60
	mostRows         = 5_000_000
)

// connect returns the end of the set-up cell: what makes the databases, buckets and clusters of the
// sources. Addresses and credentials come from variables of the environment, so that they are in no
// file. A connection to a database ends with its use, as copies of a session cannot share any; a
// cluster's client has threads and a connection, so that no copy of its session can use it.
func connect(sources []files.Source) string {
	var databases, buckets, schemes []string
	cluster := ""
	for _, s := range files.Databases(sources) {
		entry := brief.Python(s.Engine()) + ": " + brief.Python(s.Variable())
		switch {
		case s.Is(files.BucketEnding):
			buckets = append(buckets, entry)
			scheme, _, _ := strings.Cut(s.Database, "://")
			schemes = append(schemes, scheme)
		case s.Is(files.ClusterEnding):
			cluster += "\n\n" + part("cluster", "VARIABLE", brief.Python(s.Variable()),
				"ADDRESS", addresses[s.Engine()], "CLIENT", part(s.Engine()))
		default:
			databases = append(databases, entry)
		}
	}
	code := ""
	if len(databases) > 0 {
		code += "\n\n" + part("databases", "VARIABLES", "{"+strings.Join(databases, ", ")+"}",
			"SECONDS", strconv.Itoa(StatementSeconds), "MOST_ROWS", strconv.Itoa(mostRows))
	}
	if len(buckets) > 0 {
		code += "\n\n" + openBuckets(buckets, schemes)
	}
	return code + cluster
}
