import sys
from importlib import metadata


def _version(name):
    try:
        return name + " " + ".".join(metadata.version(name).split(".")[:2])
    except metadata.PackageNotFoundError:
        return ""


_names = """numpy pandas scipy scikit-learn statsmodels matplotlib seaborn openpyxl xlrd
pyarrow polars duckdb sqlalchemy lxml beautifulsoup4 pypdf pillow networkx pyspark dask ray""".split()
print("Python %d.%d.%d with" % sys.version_info[:3], ", ".join(filter(None, map(_version, _names))))
