package record

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/files"
	"dsstar/notebook"
	"dsstar/notebook/lazy"
)

// setupCell follows the parameters in every notebook and script. It must work in the session, with
// Run All, nbconvert, papermill and plain Python, and when run twice.
const setupCell = `# Set-up: cells work in files/, next to this notebook, and see the data folder as data/.
import os
import random

import numpy as np

base_dir = globals().get("base_dir") or os.path.dirname(os.path.abspath(globals().get("__file__", "notebook")))
os.makedirs(os.path.join(base_dir, "files"), exist_ok=True)
os.chdir(os.path.join(base_dir, "files"))
if os.path.islink("data"):
    os.remove("data")
data_path = os.path.abspath(os.path.join(base_dir, data_dir))
if not os.path.isdir(data_path):
    raise FileNotFoundError(f"the data folder is not at {data_path}: set data_dir in the cell above")
os.symlink(data_path, "data", target_is_directory=True)

# The same random numbers on every run.
random.seed(0)
np.random.seed(0)`

// databaseCode ends the set-up cell of a task with databases. The addresses have passwords, so that
// they are in no file. Connections end with their use: copies of a session cannot share any.
const databaseCode = `

# Databases, each an engine of SQLAlchemy that only reads and whose statements take at most %[2]d s.
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
                cursor.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
                cursor.execute("SET statement_timeout = %[2]d000")
            elif dialect in ("mysql", "mariadb"):
                cursor.execute("SET SESSION TRANSACTION READ ONLY")
                cursor.execute("SELECT version() LIKE '%%MariaDB%%'")
                is_mariadb = cursor.fetchone()[0]
                limit = "max_statement_time = %[2]d" if is_mariadb else "max_execution_time = %[2]d000"
                cursor.execute("SET SESSION " + limit)
        connection.commit()

    return engine


db = {name: connect_database(variable) for name, variable in %[1]s.items()}`

// bucketCode ends the set-up cell of a task with buckets, whose credentials are those that clients of
// S3 find.
const bucketCode = `

# Buckets, each a file system of PyArrow that begins at the folder named in the address.
import pyarrow.fs


def open_bucket(variable):
    if variable not in os.environ:
        raise KeyError(f"set the environment variable {variable} to the address of the bucket, such as s3://bucket/folder")
    anonymous = "AWS_ACCESS_KEY_ID" not in os.environ and not os.path.exists(os.path.expanduser("~/.aws"))
    scheme, _, host = os.environ.get("AWS_ENDPOINT_URL", "").rpartition("://")
    s3 = pyarrow.fs.S3FileSystem(anonymous=anonymous, region=os.environ.get("AWS_REGION"),
                                 scheme=scheme or "https", endpoint_override=host.rstrip("/") or None)
    return pyarrow.fs.SubTreeFileSystem(os.environ[variable].removeprefix("s3://").rstrip("/"), s3)


bucket = {name: open_bucket(variable) for name, variable in %s.items()}`

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

// StatementSeconds is how long a statement of a cell may take in a database.
const StatementSeconds = 60

// SetUpCell returns setupCell, without its data part if the task has no data folder, and with the
// databases that it has.
func SetUpCell(t Task) string {
	var databases, buckets []string
	cluster := ""
	for _, s := range files.Databases(t.Sources) {
		entry := brief.Python(s.Engine()) + ": " + brief.Python(s.Variable())
		switch {
		case s.Is(files.BucketEnding):
			buckets = append(buckets, entry)
		case s.Is(files.ClusterEnding):
			client := clients[s.Engine()]
			cluster += fmt.Sprintf(clusterCode, brief.Python(s.Variable()), client[0], client[1])
		default:
			databases = append(databases, entry)
		}
	}
	code := setupCell
	if len(databases) > 0 {
		code += fmt.Sprintf(databaseCode, "{"+strings.Join(databases, ", ")+"}", StatementSeconds)
	}
	if len(buckets) > 0 {
		code += fmt.Sprintf(bucketCode, "{"+strings.Join(buckets, ", ")+"}")
	}
	if code += cluster; code != setupCell {
		return code
	}
	if t.Data != "" {
		return setupCell
	}
	before, rest, _ := strings.Cut(setupCell, `if os.path.islink("data")`)
	_, after, _ := strings.Cut(rest, "target_is_directory=True)\n")
	return strings.Replace(before, ", and see the data folder as data/", "", 1) + after
}

// parametersCell returns the cell that sets the data folder and the question.
func parametersCell(t Task) string {
	question := "question = " + brief.Python(t.Question)
	if t.Data == "" {
		return question
	}
	return "data_dir = " + brief.Python(t.Data) + "\n" + question
}

// SetUpNames returns the names that the notebook's own cells bind. No cell sees a user's variables
// of these names.
func SetUpNames() []string {
	return []string{
		"data_dir", "question", "base_dir", "data_path", "os", "random", "np", "pickle", "__file__",
	}
}

// Uncarried explains why a cell failed in the fresh session if it uses a variable that could not be
// carried there. Otherwise it returns the reason unchanged.
func (t *Trajectory) Uncarried(code string, e notebook.Execution, reason string) string {
	used := words(code)
	for _, v := range t.Variables {
		if v.Problem == "" || !used[v.Name] {
			continue
		}
		text := fmt.Sprintf("unproved: the variable %s (%s) cannot be carried to a fresh session: %s",
			v.Name, v.Type, v.Problem)
		for _, o := range e.Outputs {
			if o.EName == "NameError" && words(o.EValue)[v.Name] {
				return text
			}
		}
		return text + "; " + reason
	}
	return reason
}

// Opening returns the cells before the first step: parameters, set-up and, if later cells use
// variables of a user's session, the cell that loads them.
func (t *Trajectory) Opening() []titled {
	cells := []titled{
		{"Parameters", parametersCell(t.Part(0).Task)}, {"Set-up", SetUpCell(t.Task)},
	}
	if code := t.variablesCell(); code != "" {
		cells = append(cells, titled{"Variables", code})
	}
	return cells
}

// variablesCell returns the cell that loads the variables that other cells use. A session that has
// them keeps its own, unless this cell loaded them before: cells may have changed them since.
func (t *Trajectory) variablesCell() string {
	var imports, names []string
	for _, v := range t.Loaded() {
		if v.Import != "" {
			imports = append(imports, v.Import)
		} else {
			names = append(names, brief.Python(v.Name))
		}
	}
	var parts []string
	if len(imports) > 0 {
		parts = append(parts, strings.Join(imports, "\n"))
	}
	if len(names) > 0 {
		parts = append(parts, fmt.Sprintf(loadCode, strings.Join(names, ", ")))
	}
	if len(parts) == 0 {
		return ""
	}
	return "# What these cells use of the session in which they were written, " +
		"for a session that has none of it.\n" + strings.Join(parts, "\n\n")
}

// Loaded returns the variables that the cells use and a fresh session must load.
func (t *Trajectory) Loaded() (all []Variable) {
	var cells []titled
	for k := range len(t.Earlier) + 1 {
		cells = append(cells, t.Part(k).own()...)
	}
	used := words(strings.Join(codes(cells), "\n"))
	for _, v := range t.Variables {
		if used[v.Name] && (v.Import != "" || v.File != "") {
			all = append(all, v)
		}
	}
	return all
}

const loadCode = `import pickle

_loaded = globals().setdefault("_loaded", set())
for _name in [%s]:
    if _name in _loaded or _name not in globals():
        with open(os.path.join(base_dir, "variables", _name + ".pickle"), "rb") as _file:
            globals()[_name] = pickle.load(_file)
        _loaded.add(_name)`

var wordPattern = lazy.Regexp(`[\p{L}\p{N}_]+`)

// words returns the set of words in code, which includes its names.
func words(code string) map[string]bool {
	words := map[string]bool{}
	for _, w := range wordPattern().FindAllString(code, -1) {
		words[w] = true
	}
	return words
}

// Variables returns the path of the folder with the carried variables, which may not exist yet.
func (f Folder) Variables() string { return filepath.Join(string(f), variablesFolder) }

// Lend makes the run folder's variables available to cells that run in dir.
func (f Folder) Lend(dir string) error {
	if info, err := os.Lstat(f.Variables()); err != nil || dir == "" {
		return nil // there are none, or no session
	} else if !info.IsDir() {
		return fmt.Errorf("lend the variables: %s is not a folder, as a run leaves it", f.Variables())
	}
	if err := os.Symlink(f.Variables(), filepath.Join(dir, variablesFolder)); err != nil {
		return fmt.Errorf("lend the variables: %w", err)
	}
	return nil
}

// variablesFolder is the name of that folder.
const variablesFolder = "variables"
