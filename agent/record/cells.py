# Parts of cells that dsstar writes itself; names in capitals are replaced. What comes before the first
# part is no cell's.

# == setup
# Set-up: cells work in files/, next to this notebookSEES.
import os
import random

import numpy as np

base_dir = globals().get("base_dir") or os.path.dirname(os.path.abspath(globals().get("__file__", "notebook")))
os.makedirs(os.path.join(base_dir, "files"), exist_ok=True)
os.chdir(os.path.join(base_dir, "files"))
DATA
# The same random numbers on every run.

# == data
if os.path.islink("data"):
    os.remove("data")
data_path = os.path.abspath(os.path.join(base_dir, data_dir))
if not os.path.isdir(data_path):
    raise FileNotFoundError(f"the data folder is not at {data_path}: set data_dir in the cell above")
os.symlink(data_path, "data", target_is_directory=True)

# == databases
# Databases, each an engine of SQLAlchemy that only reads, in transactions that see one state, for at most
# 60 s a statement.
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
                cursor.execute("SET statement_timeout = 60000")
            elif dialect in ("mysql", "mariadb"):
                cursor.execute("SET SESSION TRANSACTION READ ONLY")
                cursor.execute("SELECT version() LIKE '%MariaDB%'")
                is_mariadb = cursor.fetchone()[0]
                limit = "max_statement_time = 60" if is_mariadb else "max_execution_time = 60000"
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
        if cursor.rowcount > 5000000:
            raise ValueError(f"the result has {cursor.rowcount} rows, and at most 5000000 come at once: filter or "
                              "aggregate in the database, or read parts with LIMIT")

    return engine


db = {name: connect_database(variable) for name, variable in VARIABLES.items()}

# == buckets
# Buckets, each a file system of PyArrow that begins at the folder named in the address.
import pyarrow.fs

OPENERS
def open_bucket(variable):
    if variable not in os.environ:
        raise KeyError(f"set the environment variable {variable} to the address of the bucket, such as SCHEME://bucket/folder")
    scheme, _, folder = os.environ[variable].partition("://")
    return pyarrow.fs.SubTreeFileSystem(folder.rstrip("/"), globals()["open_" + scheme]())


bucket = {name: open_bucket(variable) for name, variable in VARIABLES.items()}

# == s3
def open_s3():
    anonymous = "AWS_ACCESS_KEY_ID" not in os.environ and not os.path.exists(os.path.expanduser("~/.aws"))
    scheme, _, host = os.environ.get("AWS_ENDPOINT_URL", "").rpartition("://")
    return pyarrow.fs.S3FileSystem(anonymous=anonymous, region=os.environ.get("AWS_REGION"),
                                   scheme=scheme or "https", endpoint_override=host.rstrip("/") or None)

# == gs
def open_gs():
    import datetime

    token = os.environ.get("GOOGLE_OAUTH_ACCESS_TOKEN")
    hour = datetime.datetime.now() + datetime.timedelta(hours=1)
    scheme, _, host = os.environ.get("STORAGE_EMULATOR_HOST", "").rpartition("://")
    return pyarrow.fs.GcsFileSystem(anonymous=not token, access_token=token,
                                    credential_token_expiration=hour if token else None,
                                    scheme=scheme or "https", endpoint_override=host.rstrip("/") or None)

# == az
def open_az():
    scheme, _, host = os.environ.get("AZURE_STORAGE_SERVICE_ENDPOINT", "").rpartition("://")
    host = host.partition("/")[0]
    at = dict(blob_storage_authority=host, dfs_storage_authority=host, blob_storage_scheme=scheme,
              dfs_storage_scheme=scheme) if host else {}
    return pyarrow.fs.AzureFileSystem(os.environ["AZURE_STORAGE_ACCOUNT"], account_key=os.environ.get("AZURE_STORAGE_KEY"),
                                      sas_token=os.environ.get("AZURE_STORAGE_SAS_TOKEN"), **at)

# == cluster
# The cluster. A plain connection comes first: clients try a dead address for minutes.
import socket
from urllib.parse import urlsplit

if VARIABLE not in os.environ:
    raise KeyError("set the environment variable " + VARIABLE + " to the address of the cluster, such as ADDRESS")
_address = os.environ[VARIABLE]
socket.create_connection((urlsplit(_address).hostname, urlsplit(_address).port), timeout=10).close()
CLIENT

# == spark
from pyspark.sql import SparkSession

spark = SparkSession.builder.remote(_address).getOrCreate()
spark.conf.set("spark.sql.connect.serverStacktrace.enabled", "false")  # errors without Java's frames

# == dask
from distributed import Client

client = Client(_address, timeout=10)

# == ray
import ray

ray.init(_address, ignore_reinit_error=True, log_to_driver=False)

# == variables
import pickle

_loaded = globals().setdefault("_loaded", set())
for _name in [NAMES]:
    if _name in _loaded or _name not in globals():
        with open(os.path.join(base_dir, "variables", _name + ".pickle"), "rb") as _file:
            globals()[_name] = pickle.load(_file)
        _loaded.add(_name)
