"""A key is told of if what it refers to is there, whoever reads the database."""

import sqlite3

con = sqlite3.connect("towns.sqlite")
con.executescript("""
create table town(name text primary key, county text, code text as (lower(name)) virtual unique);
create table place(id integer primary key references TOWN(id), town text references Town(NAME),
  again text references town, lost text references gone(name), coded text references town(code));
insert into town values('Rome', 'Lazio'); insert into place values(1, 'Rome', 'Rome', 'x', 'rome');
""")
con.close()
os.environ["DSSTAR_DB_SERVED"] = "sqlite:///" + os.path.abspath("towns.sqlite")
for is_ in (found("towns.sqlite"), found("served.database.json", '{"variable": "DSSTAR_DB_SERVED"}')):
    lines = "\n".join([*is_.get("lines", ()), said(*is_["tables"])])
    told = [w.lower() for w in lines.replace("place.", "").splitlines() if "refers to" in w]
    same(is_["format"], "keys", sorted(told), ["again refers to town.name", "coded refers to town.code",
                                                "town refers to town.name"])
