"""No name in an archive runs, and its tables have calls that read them, which the list of values runs,
too. Nothing is told of values that are in other files."""

import sqlite3, zipfile
import h5py, numpy as np, pyarrow as pa, yaml
name = "+str(open('PWNED.txt','w').write('x'))+"
rows = [{"id": n, "path": n / 2} for n in range(40)]
with sqlite3.connect("a.sqlite") as con:
    con.execute("CREATE TABLE path (id, v)")
    con.executemany("INSERT INTO path VALUES (?, ?)", [(n, n / 2) for n in range(40)])
con.close()
with h5py.File("a.h5", "w") as f:
    f["path"], f["open(path)"] = np.arange(40), np.arange(40)
    f["open(path)[:]"] = np.array([(n,) for n in range(40)], [("path", "i8")])
np.savez("a.npz", **{"path": np.arange(40), "open(path, encoding=x)": np.arange(40)})
with open("a.yaml", "w") as f:
    yaml.safe_dump({"path": rows, "open(path)": [dict(r) for r in rows]}, f)
with open("a.json", "w") as f:
    json.dump({"path": rows, "open(path)": rows}, f)
with open("a.csv", "w") as f:
    f.write("path,open(path)\n" + "".join(f"{n},{n}\n" for n in range(40)))
for ending in ("sqlite", "h5", "npz", "yaml", "json", "csv"):
    with zipfile.ZipFile(ending + ".zip", "w") as z:
        z.write("a." + ending, name)
        z.write("a." + ending, name + "." + ending)
        z.writestr("x", "")
with zipfile.ZipFile("zst.zip", "w") as z, pa.CompressedOutputStream("a.csv.zst", "zstd") as f:
    f.write(open("a.csv", "rb").read())
    f.close()
    z.write("a.csv.zst", name + ".csv.zst")
    z.writestr("x", "")
secret = np.arange(40)
secret.tofile("secret.bin")
with h5py.File("secret.h5", "w") as f:
    f["v"] = secret
with h5py.File("elsewhere.h5", "w") as f:
    f["own"] = np.arange(40)
    f.create_dataset("raw", (40,), "i8", external=[("secret.bin", 0, 320)])
    layout = h5py.VirtualLayout((40,), "i8")
    layout[:] = h5py.VirtualSource("secret.h5", "v", (40,))
    f.create_virtual_dataset("virtual", layout)
    f["linked"] = h5py.ExternalLink("secret.h5", "v")

CALLED = {"sqlite.zip": 0, "h5.zip": 2, "npz.zip": 1, "yaml.zip": 2, "json.zip": 2, "csv.zip": 1, "zst.zip": 1}
for file, called in CALLED.items():
    is_ = found(file)
    calls = sum(bool(t.get("call")) for t in is_.get("tables", ()))
    same(file, f"calls of {is_}", (is_.get("problem"), calls >= called), (None, True))
    printed(sys.modules["dsstar_profile.masked"].main, [file], ["*"], 60, 60, "mark")
    same(file, "a name of a member has run", os.path.exists("PWNED.txt"), False)
is_ = found("elsewhere.h5")
same("elsewhere.h5", "columns", [[c["name"] for c in t["columns"]] for t in is_.get("tables", ())], [["own"]])
for part in ("raw", "virtual", "linked"):
    same("elsewhere.h5", f"it says that {part} is not read in\n{said(is_)}", part in said(is_), True)
