# Counts what statements of DuckDB do to rows, with DuckDB's own syntax trees. It comes before rows.py in
# one module, whose names it uses.
import json
import re
import sys
import threading
import time


def state(s, got, frame):
    """Counts what a statement is to do, before it runs: its result must stay the connection's last."""
    global spent
    connection, text = got[0], got.get(1, got.get("query", s.constants.get(1, s.constants.get("query"))))
    if not isinstance(text, str) or not hasattr(connection, "cursor"):
        return  # it is a table, or another engine
    began = time.perf_counter()
    for word in re.findall(r"(?im)(?:^|;)\s*(begin|start\s+transaction|commit|rollback|abort|\Aend)\b", text):
        transact(connection, word)
    got["counted"] = "", []
    begun = re.match(r"(?is)\s*create\b.*?\bas\s+(?=select|with|from|\()", text)
    text = text[begun.end() :] if begun else text
    if not re.match(r"(?is)\s*(select|with|from|\()", text) or told.get(id(s), [0, 0, 0, 0])[3] >= 20:
        return
    got["counted"] = "statement: not counted", []
    if left() < 0.01 or re.search(r"(?i)\b(random|uuid|nextval|setseed)\s*\(|\$\d|\?", text):
        return
    if opened:
        return  # a cursor does not see what is not committed
    # The connection itself is never asked: a result that waits to be fetched would be lost.
    cursor = connection.cursor()
    stop = threading.Timer(left(), cursor.interrupt) if hasattr(cursor, "interrupt") else None
    stop and stop.start()
    statement = Statement(cursor, dict(frame.f_globals))
    try:
        got["counted"] = statement.count(text)
    except Exception:
        if statement.said:
            got["counted"] = "; ".join(statement.said + ["the rest is not counted"]), statement.warns
    finally:
        stop and stop.cancel()
    cursor.close()
    spent += time.perf_counter() - began


opened = set()  # connections in a transaction, by id
plain_functions = set()  # of DuckDB without what cells have made


def transact(connection, word):
    """Notes that a statement or a method begins or ends a transaction."""
    begins = word.lower().startswith(("begin", "start"))
    (opened.add if begins else opened.discard)(id(connection))


def stated(s, got, x, frame):
    return got("counted", default=("", []))


def queried(s, got, x, frame):
    return filtered(s, got, x, frame) if library(got.receiver) == "pandas" or got.rows else stated(s, got, x, frame)


class Statement:
    def __init__(self, cursor, names):
        self.cursor, self.names = cursor, names
        self.said, self.warns, self.with_ = [], [], None

    def ask(self, query, *parameters):
        """The first row; Python variables are found in the names of the frame that asks."""
        names = {**self.names, "_c": self.cursor, "_q": query, "_p": parameters}
        return eval("_c.execute(_q, list(_p)).fetchone()" if parameters else "_c.execute(_q).fetchone()", names)

    def tree(self, query):
        return json.loads(self.ask("select json_serialize_sql(?::varchar)", query)[0])

    def rows(self, table, where=None):
        made = self.tree("select count(*) from x")
        node = made["statements"][0]["node"]
        node["from_table"], node["where_clause"] = table, where
        if self.with_:
            node["cte_map"] = self.with_
        sql = self.ask("select json_deserialize_sql(?::json)", json.dumps(made))[0]
        return self.ask(sql)[0]

    def names_in(self, table):
        if table["type"] == "JOIN":
            return self.names_in(table["left"]) + self.names_in(table["right"])
        return [table.get("alias") or table.get("table_name") or "a table"]

    def columns(self, table):
        made = self.tree("select * from x limit 0")
        node = made["statements"][0]["node"]
        node["from_table"] = table
        if self.with_:
            node["cte_map"] = self.with_
        sql = self.ask("select json_deserialize_sql(?::json)", json.dumps(made))[0]
        self.ask(sql)
        return [d[0] for d in self.cursor.description]

    def count(self, text):
        top = self.tree(text)
        if not plain_functions:
            with sys.modules["duckdb"].connect(":memory:") as fresh:
                plain_functions.update(Statement(fresh, {}).functions())
        if self.functions() - plain_functions:
            raise ValueError  # Python might run: also in a view
        for statement in top.get("statements", []):
            self.with_ = statement["node"].get("cte_map")
            for node in selects(statement["node"]):
                self.select(node)
        return "; ".join(self.said), self.warns

    def functions(self):
        """The names of DuckDB's own functions, among which are those that cells have made of Python's."""
        return set(self.ask("select list(distinct function_name) from duckdb_functions() where internal")[0])

    def select(self, node):
        table, multiplied = node.get("from_table") or {"type": "EMPTY"}, {}
        if table["type"] == "JOIN":
            self.join(table, multiplied)
        where = node.get("where_clause")
        if where and table["type"] != "EMPTY":
            before, after = self.rows(table), self.rows(table, where)
            self.said.append(f"WHERE: {n(after)} of {n(before)}")
            if before and not after:
                self.warns.append(f"WHERE: no row of {n(before)} is left")
            elif before == after and excludes(where):
                self.warns.append(f"WHERE leaves out none of {n(before)} rows")
        for f in parts(node.get("select_list")):
            if f.get("class") == "FUNCTION" and f.get("function_name") in OPS and not f.get("distinct"):
                read = [c["column_names"] for c in parts(f["children"]) if c.get("class") == "COLUMN_REF"]
                whys = [self.why(c, multiplied) for c in read]
                if whys and all(whys):
                    self.warns.append(f"{f['function_name']} of {'.'.join(read[0])}, whose values were {whys[0]}")

    def why(self, column, multiplied):
        for name, (columns, why) in multiplied.items():
            if column[0] == name and len(column) > 1 or len(column) == 1 and column[0] in columns:
                return why
        return ""

    def join(self, j, multiplied):
        for side in (j["left"], j["right"]):
            if side["type"] == "JOIN":
                self.join(side, multiplied)
        kind, (a, b) = j["join_type"], (j["left"], j["right"])
        names = [", ".join(self.names_in(t)) for t in (a, b)]
        if j.get("ref_type") not in ("REGULAR", "NATURAL") or kind not in ("INNER", "LEFT", "RIGHT", "OUTER", "FULL"):
            return
        la, lb, pairs = self.rows(a), self.rows(b), self.rows({**j, "join_type": "INNER"})
        met = la - self.rows({**j, "join_type": "ANTI"})
        its = lb - self.rows({**j, "left": b, "right": a, "join_type": "ANTI"})
        one, other = pairs == its, pairs == met
        shape = ("1" if one else "m") + ":" + ("1" if other else "m" if one else "n")
        text = f"{names[0]} {n(la)} x {names[1]} {n(lb)}: {n(pairs)} pairs, {shape}, {kind.lower()}"
        self.said.append(f"{text}, without partner {n(la - met)} and {n(lb - its)}")
        if la and lb and not met:
            self.warns.append(f"{text}: no key of either side is in the other")
        for side, (has, of, name) in enumerate(((met, la, names[0]), (its, lb, names[1]))):
            loses = kind == "INNER" and (la >= lb, lb > la)[side] or kind == ("LEFT", "RIGHT")[side]
            if met and loses and of - has > SMALL * of:
                what = "are lost" if kind == "INNER" else "get missing values"
                self.warns.append(f"{n(of - has)} of {n(of)} rows of {name} have no partner in {names[1 - side]} and {what}")
        if not one and not other and a != {**b, "alias": a.get("alias")}:
            self.warns.append(f"{text}: keys repeat on both sides, so that rows are paired with each other")
        for table, unique, has in ((a, other, met), (b, one, its)):
            if not unique and has and pairs > has * (1 + SMALL):
                why = f"multiplied by this join, {pairs / has:.2f} rows for each"
                columns = self.columns(table)
                for name in self.names_in(table):
                    multiplied[name] = columns, why


def parts(tree, subqueries=False):
    """The parts of a statement, with those of its subqueries or without them."""
    if isinstance(tree, dict):
        if subqueries or tree.get("class") != "SUBQUERY":
            yield tree
            for part in tree.values():
                yield from parts(part, subqueries)
    elif isinstance(tree, list):
        for part in tree:
            yield from parts(part, subqueries)


def selects(tree):
    return (part for part in parts(tree, subqueries=True) if part.get("type") == "SELECT_NODE")


def excludes(where):
    """Whether a condition leaves out what it names in words."""
    words = any((p.get("value") or {}).get("type", {}).get("id") == "VARCHAR" for p in parts(where)
                if p.get("class") == "CONSTANT")
    return words and any(p.get("type") in ("COMPARE_NOTEQUAL", "COMPARE_NOT_IN", "OPERATOR_NOT") for p in parts(where))
