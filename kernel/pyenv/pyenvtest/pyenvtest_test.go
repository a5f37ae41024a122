package pyenvtest_test

import (
	"os/exec"
	"testing"

	"dsstar/kernel/pyenv/pyenvtest"
)

func TestPython(t *testing.T) {
	const code = `
import ipykernel, pandas as pd, numpy as np, matplotlib, seaborn, statsmodels.api as sm, sklearn.linear_model
import cdflib, h5py, pyreadstat, python_calamine, shapefile, openpyxl, xlrd, pyarrow, polars, duckdb, lxml.html, bs4, html5lib, requests, yaml, sqlalchemy, PIL, tabulate, pypdf, networkx, scipy.stats
df = pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "x"]})
assert duckdb.sql("select sum(a) from df").fetchone()[0] == 6
assert polars.from_pandas(df).shape == (3, 2)
assert df.to_markdown().count("|") > 3`
	if out, err := exec.Command(pyenvtest.Python(t), "-I", "-c", code).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
