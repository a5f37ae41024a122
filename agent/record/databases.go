package record

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/files"
	"dsstar/notebook"
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

// A TableCount is how many rows a table had that cells name: of more than 5 million, one more than
// that.
type TableCount struct {
	Database string `json:"database"`
	Table    string `json:"table"`
	Rows     int64  `json:"rows"`
}

const mostCounted = 5_000_000

// String is for people.
func (c TableCount) String() string {
	if c.Rows > mostCounted {
		return c.Table + " more than 5 million"
	}
	return fmt.Sprintf("%s %d", c.Table, c.Rows)
}

// CountCode returns the code that counts the rows of those tables whose names are among words of
// cells, for a session after the set-up cell; "" without databases.
func CountCode(sources []files.Source, cells []string) string {
	if !slices.ContainsFunc(sources, func(s files.Source) bool { return s.Is(files.DatabaseEnding) }) {
		return ""
	}
	var used []string
	for _, word := range slices.Sorted(maps.Keys(words(strings.Join(cells, "\n")))) {
		used = append(used, brief.Python(word))
	}
	return part("count", "WORDS", "["+strings.Join(used, ", ")+"]", "MOST", strconv.Itoa(mostCounted))
}

// Counted returns what [CountCode] has printed; nil if it failed.
func Counted(x notebook.Execution) (counts []TableCount) {
	if x.Status != notebook.OK || json.Unmarshal([]byte(x.Stdout()), &counts) != nil {
		return nil
	}
	return counts
}
