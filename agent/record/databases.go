package record

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"dsstar/agent/brief"
	"dsstar/agent/files"
	"dsstar/notebook"
)

// databaseCode ends the set-up cell of a task with databases. The addresses have passwords, so that
// they are in no file. Connections end with their use: copies of a session cannot share any.
const databaseCode = `

# Databases, each an engine of SQLAlchemy that only reads, in transactions that see one state, for at most
# %[2]d s a statement.
import sqlalchemy


def connect_database(variable):
    if variable not in os.environ:
        raise KeyError(f"set the environment variable {variable} to the address of the database, such as "
                       "dialect://user:password@host/name")
    engine = sqlalchemy.create_engine(os.environ[variable], poolclass=sqlalchemy.NullPool)
    dialect = engine.dialect.name

    @sqlalchemy.event.listens_for(engine, "connect")
    def only_read(connection, _):
        with connection.cursor() as cursor:
            if dialect == "postgresql":
                cursor.execute("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                cursor.execute("SET statement_timeout = %[2]d000")
            elif dialect in ("mysql", "mariadb"):
                cursor.execute("SET SESSION TRANSACTION READ ONLY")
                cursor.execute("SELECT version() LIKE '%%MariaDB%%'")
                is_mariadb = cursor.fetchone()[0]
                limit = "max_statement_time = %[2]d" if is_mariadb else "max_execution_time = %[2]d000"
                cursor.execute("SET SESSION " + limit)
        connection.commit()
        if dialect == "postgresql":
            try:  # since version 14: a statement ends soon after the client has been killed
                with connection.cursor() as cursor:
                    cursor.execute("SET client_connection_check_interval = '5s'")
                connection.commit()
            except Exception:
                connection.rollback()

    @sqlalchemy.event.listens_for(engine, "after_cursor_execute")
    def refuse_many(connection, cursor, *_):
        if cursor.rowcount > %[3]d:
            raise ValueError(f"the result has {cursor.rowcount} rows, and at most %[3]d come at once: filter or "
                              "aggregate in the database, or read parts with LIMIT")

    return engine


db = {name: connect_database(variable) for name, variable in %[1]s.items()}`

// bucketCode ends the set-up cell of a task with buckets, whose credentials are in variables.
const bucketCode = `

# Buckets, each a file system of PyArrow that begins at the folder named in the address.
import pyarrow.fs

%[1]s
def open_bucket(variable):
    if variable not in os.environ:
        raise KeyError(f"set the environment variable {variable} to the address of the bucket, such as %[2]s://bucket/folder")
    scheme, _, folder = os.environ[variable].partition("://")
    return pyarrow.fs.SubTreeFileSystem(folder.rstrip("/"), {%[3]s}[scheme]())


bucket = {name: open_bucket(variable) for name, variable in %[4]s.items()}`

// stores are the functions that open the file systems of buckets, by the schemes of their addresses.
var stores = map[string]string{"s3": `
def open_s3():
    anonymous = "AWS_ACCESS_KEY_ID" not in os.environ and not os.path.exists(os.path.expanduser("~/.aws"))
    scheme, _, host = os.environ.get("AWS_ENDPOINT_URL", "").rpartition("://")
    return pyarrow.fs.S3FileSystem(anonymous=anonymous, region=os.environ.get("AWS_REGION"),
                                   scheme=scheme or "https", endpoint_override=host.rstrip("/") or None)

`, "gs": `
def open_gs():
    import datetime

    token = os.environ.get("GOOGLE_OAUTH_ACCESS_TOKEN")
    hour = datetime.datetime.now() + datetime.timedelta(hours=1)
    scheme, _, host = os.environ.get("STORAGE_EMULATOR_HOST", "").rpartition("://")
    return pyarrow.fs.GcsFileSystem(anonymous=not token, access_token=token,
                                    credential_token_expiration=hour if token else None,
                                    scheme=scheme or "https", endpoint_override=host.rstrip("/") or None)

`, "az": `
def open_az():
    scheme, _, host = os.environ.get("AZURE_STORAGE_SERVICE_ENDPOINT", "").rpartition("://")
    host = host.partition("/")[0]
    at = dict(blob_storage_authority=host, dfs_storage_authority=host, blob_storage_scheme=scheme,
              dfs_storage_scheme=scheme) if host else {}
    return pyarrow.fs.AzureFileSystem(os.environ["AZURE_STORAGE_ACCOUNT"], account_key=os.environ.get("AZURE_STORAGE_KEY"),
                                      sas_token=os.environ.get("AZURE_STORAGE_SAS_TOKEN"), **at)

`}

// openBuckets returns the code for buckets, of the schemes that they have.
func openBuckets(entries, schemes []string) string {
	slices.Sort(schemes)
	schemes = slices.Compact(schemes)
	var functions string
	var names []string
	for _, scheme := range schemes {
		functions += stores[scheme]
		names = append(names, brief.Python(scheme)+": open_"+scheme)
	}
	return fmt.Sprintf(bucketCode, functions, schemes[0], strings.Join(names, ", "),
		"{"+strings.Join(entries, ", ")+"}")
}

// clusterCode ends the set-up cell of a task with a cluster. A client has threads and a connection, so
// that no copy of its session can use it.
const clusterCode = `

# The cluster. A plain connection comes first: clients try a dead address for minutes.
import socket
from urllib.parse import urlsplit

if %[1]s not in os.environ:
    raise KeyError("set the environment variable " + %[1]s + " to the address of the cluster, such as %[2]s")
_address = os.environ[%[1]s]
socket.create_connection((urlsplit(_address).hostname, urlsplit(_address).port), timeout=10).close()
%[3]s`

// clients is the code that connects to a cluster, and an address of it, by its engine.
var clients = map[string][2]string{
	"spark": {"sc://host:15002", `from pyspark.sql import SparkSession

spark = SparkSession.builder.remote(_address).getOrCreate()
spark.conf.set("spark.sql.connect.serverStacktrace.enabled", "false")  # errors without Java's frames`},
	"dask": {"tcp://host:8786", `from distributed import Client

client = Client(_address, timeout=10)`},
	"ray": {"ray://host:10001", `import ray

ray.init(_address, ignore_reinit_error=True, log_to_driver=False)`},
}

// StatementSeconds is how long a statement of a cell may take in a database, and mostRows how long its
// result may be.
const (
	StatementSeconds = 60
	mostRows         = 5_000_000
)

// connect returns the end of the set-up cell: what makes the databases, buckets and clusters of the
// sources.
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
			client := clients[s.Engine()]
			cluster += fmt.Sprintf(clusterCode, brief.Python(s.Variable()), client[0], client[1])
		default:
			databases = append(databases, entry)
		}
	}
	code := ""
	if len(databases) > 0 {
		code += fmt.Sprintf(databaseCode, "{"+strings.Join(databases, ", ")+"}", StatementSeconds, mostRows)
	}
	if len(buckets) > 0 {
		code += openBuckets(buckets, schemes)
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

const countCode = `def _count(words, most):
    import contextlib
    import json
    found = []
    for name, engine in db.items():
        with contextlib.suppress(sqlalchemy.exc.SQLAlchemyError), engine.connect() as connection:
            inspector = sqlalchemy.inspect(connection)
            default = inspector.default_schema_name
            quote = connection.dialect.identifier_preparer.quote
            for schema in inspector.get_schema_names():
                if schema != default and schema not in words:
                    continue
                for table in sorted(inspector.get_table_names(schema) + inspector.get_view_names(schema)):
                    parts = [table] if schema == default else [schema, table]
                    if table not in words or len(found) == 100:
                        continue
                    try:
                        rows = connection.exec_driver_sql(
                            "SELECT count(*) FROM (SELECT 1 FROM " + ".".join(map(quote, parts))
                            + f" LIMIT {most + 1}) counted").scalar()
                        found.append({"database": name, "table": ".".join(parts), "rows": rows})
                    except sqlalchemy.exc.SQLAlchemyError:  # such as one that the user may not read
                        connection.rollback()
    print(json.dumps(found))

_count(set(%s), %d)
del _count`

// showCounts says how many rows tables had; "" if nobody has counted.
func showCounts(p *Proof) string {
	if len(p.Counts) == 0 {
		return ""
	}
	var parts []string
	database := ""
	for _, c := range p.Counts {
		text := c.String()
		if c.Database != database {
			database = c.Database
			text = fmt.Sprintf("`db[%q]`: ", database) + text
		}
		parts = append(parts, text)
	}
	return fmt.Sprintf("Rows at %s: %s.", p.At.UTC().Format("2006-01-02 15:04 UTC"),
		strings.Join(parts, ", "))
}

// CountCode returns the code that counts the rows of those tables whose names are among words of
// cells, for a session after the set-up cell; "" without databases.
func CountCode(sources []files.Source, cells []string) string {
	if !slices.ContainsFunc(sources, func(s files.Source) bool { return s.Is(files.DatabaseEnding) }) {
		return ""
	}
	var used []string
	for word := range words(strings.Join(cells, "\n")) {
		used = append(used, brief.Python(word))
	}
	slices.Sort(used)
	return fmt.Sprintf(countCode, "["+strings.Join(used, ", ")+"]", mostCounted)
}

// Counted returns what [CountCode] has printed; nil if it failed.
func Counted(x notebook.Execution) (counts []TableCount) {
	if x.Status != notebook.OK || json.Unmarshal([]byte(x.Stdout()), &counts) != nil {
		return nil
	}
	return counts
}

// Counts returns when the answer of a notebook was proved and how many rows tables had then.
func Counts(nb *notebook.Notebook) (at time.Time, counts []TableCount) {
	meta, err := recorded(nb)
	if err != nil || meta.Trajectory.Proof == nil {
		return at, nil
	}
	return meta.Trajectory.Proof.At, meta.Trajectory.Proof.Counts
}
