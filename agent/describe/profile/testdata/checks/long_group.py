"""A Parquet file whose group of rows takes more memory than a reader may have is described from a
sample, and a table that takes too much is said to, in words."""

import pyarrow as pa, pyarrow.parquet as pq
profile = sys.modules["dsstar_profile.profile"]
texts = pa.array([f"{n // 1000:064d}" for n in range(1 << 17)])  # a page that is small when packed
pq.write_table(pa.table([texts] * 240, [f"c{n}" for n in range(240)]), "large.parquet",
    data_page_size=16 << 20, max_rows_per_page=1 << 20, use_dictionary=False, compression="zstd")
found = json.loads(profile.text("large.parquet", 60))
assert found["tables"][0]["rows"] == 1 << 17 and found["tables"][0]["call"], found
profile.MEMORY = 1 << 20
found = json.loads(profile.text("large.parquet", 60))
assert found["problem"].endswith(": it takes too much memory") and not found.get("warnings"), found
