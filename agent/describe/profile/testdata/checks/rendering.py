"""A table of which no words can be made costs itself alone."""

words = sys.modules["dsstar_profile.profile"].in_words
good = {"name": "good", "rows": 2, "columns": [{"name": "v", "type": "number", "range": [1, 2]}]}
def bad(**more): return {"name": "bad", "rows": 2, "columns": [{"name": "v", "type": "number"} | more]}
for table in (bad(range=[float("nan"), 1]), bad(range=[0.5, float("inf")]), bad(range=["a"]), bad(odd=float("nan")), {}):
    found = json.loads(words({"bytes": 1, "format": "x", "tables": [table, dict(good, columns=[dict(good["columns"][0])])]}))
    assert [t["name"] for t in found["tables"]] == ["good"] and "left out" in str(found["warnings"]), found
assert json.loads(words({"bytes": 1, "format": "x", "text": 5}))["problem"]
