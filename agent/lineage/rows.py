# Has pandas read tables whose rows are CHANGEd. Tables with an index of their own stay as they are.
def rows_changed():
    import functools

    import pandas as pd

    def watched(read):
        @functools.wraps(read)
        def changed(*args, **kwargs):
            t = read(*args, **kwargs)
            if not isinstance(t, pd.DataFrame) or not isinstance(t.index, pd.RangeIndex):
                return t
            return (CHANGE).reset_index(drop=True)

        return changed

    for kind in ("csv", "table", "excel", "json", "parquet", "feather", "sql", "sql_query"):
        setattr(pd, "read_" + kind, watched(getattr(pd, "read_" + kind)))


rows_changed()
del rows_changed
