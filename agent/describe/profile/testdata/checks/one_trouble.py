"""A file that is gone costs itself, and a table that cannot be told of costs that table."""

grids, workers, masked = (sys.modules["dsstar_profile." + m] for m in ("grids", "workers", "masked"))
plain = grids.Table.profile
def profile(table):
    if "bad" in table.names: raise ValueError("no such figures")
    return plain(table) | ({"odd": {(1, 2): 3}} if "odd" in table.names else {})
grids.Table.profile = profile
open("some.csv", "w").write("a,b\n1,2\n3,4\n")
json.dump({"x": [{"bad": 1}, {"bad": 2}], "y": [{"v": 1}, {"v": 2}]}, open("two.json", "w"))
open("odd.csv", "w").write("a,odd\n1,2\n3,4\n")
told = printed(workers.main, ["gone.csv", "some.csv", "two.json", "odd.csv"], 20, 1, 60, "mark")
gone, some, two, odd = (json.loads(told[f"mark {n}"]) for n in range(4))
assert gone["problem"], gone
for is_, tables, warnings in (some, 1, 0), (two, 1, 1), (odd, 0, 1):
    assert not is_.get("problem"), is_
    assert (len(is_.get("tables", ())), len(is_.get("warnings", ()))) == (tables, warnings), is_
assert two["tables"][0]["columns"][0]["name"] == "v" and two["tables"][0]["call"], two
told = printed(masked.main, ["gone.csv", "two.json"], ["v"], 20, 60, "masked")
assert told["masked 0"] == "{}\n" and '"problem"' in told["masked 1"], told
