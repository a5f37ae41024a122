package agent_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"dsstar/agent"
	"dsstar/agent/brief"
	"dsstar/kernel/pyenv/pyenvtest"
)

// inIPython runs each of some cells in turn after the tables of the tests, with the program that counts rows or
// without it, and returns what the Python expression of gives after it.
func inIPython(t testing.TB, counts bool, of string, cells []string) (all []json.RawMessage) {
	t.Helper()
	prelude, patience := agent.Prelude(agent.Prove), "30"
	if _, measures := t.(*testing.B); measures {
		patience = "0.3"
	}
	if counts {
		prelude = agent.Prelude(agent.Work)
	}
	if len(prelude) > 40_000 {
		t.Errorf("a prelude of %d bytes: the kernel that reads more than about 60,000 cannot be frozen", len(prelude))
	}
	program := strings.NewReplacer("PRELUDE", brief.Python(prelude), "PATIENCE", patience, "OF", of, "CELLS",
		brief.Python(string(must(json.Marshal(cells))))).Replace(string(must(os.ReadFile("testdata/rows.py"))))
	cmd := exec.Command(pyenvtest.Python(t), "-c", program)
	cmd.Dir, cmd.Stderr = t.TempDir(), os.Stderr
	must(0, json.Unmarshal(must(cmd.Output()), &all))
	if len(all) != len(cells) {
		t.Fatalf("%d of %d cells ran", len(all), len(cells))
	}
	return all
}

// A trap is a cell with a mistake that nothing shows, the words of its warning, and the same done right.
var traps = []struct{ wrong, warning, right string }{
	// rows that a join multiplies
	{`print(orders.merge(items, on="order").amount.sum())`, "sum of amount, whose values were multiplied", `print(orders.merge(items, on="order").qty.sum())`},
	{`m = pd.merge(orders, items); print(m["amount"].mean())`, "mean of amount", `m = pd.merge(orders, items).drop_duplicates("order"); print(m["amount"].mean())`},
	{`m = orders.merge(items, on="order", how="left")
print(m.groupby("customer")["amount"].sum().max())`, "sum of amount", `m = orders.merge(items.groupby("order", as_index=False).qty.sum(), on="order", how="left")
print(m.groupby("customer")["amount"].sum().max())`},
	{`m = items.merge(orders, on="order"); print(m.amount.sum())`, "sum of amount", `m = items.merge(orders, on="order"); print(m.groupby("order").amount.mean().sum())`},
	{`m = orders.join(items.set_index("order"), on="order"); print(m.agg({"amount": "sum"}))`, "sum of amount", `m = orders.join(customers.set_index("customer"), on="customer"); print(m.agg({"amount": "sum"}))`},
	{`m = orders.merge(items, on="order"); g = m.groupby("customer").agg(total=("amount", "sum"))`, "sum of amount", `m = orders.merge(customers, on="customer"); g = m.groupby("city").agg(total=("amount", "sum"))`},
	{`m = orders.merge(items, on="order"); m["net"] = m["amount"] * 0.8; print(m["net"].sum())`, "sum of net", `m = orders.merge(items, on="order"); m["net"] = m["price"] * m["qty"]; print(m["net"].sum())`},
	{`m = orders.merge(items, on="order"); print((m.amount * 0.8).sum())`, "sum of amount", `m = orders.merge(items, on="order"); print((m.price * m.qty).sum())`},
	{`m = orders.merge(items, on="order")
late = m[m.customer > 3]
print(late.amount.median())`, "median of amount", `m = orders[orders.customer > 3]; print(m.amount.median())`},
	{`a = orders.merge(notes, on="customer"); print(len(a))`, "keys repeat on both sides", `a = orders.merge(customers, on="customer"); print(len(a))`},
	{`m = orders.merge(notes, on="customer").drop_duplicates(["customer", "note"]); print(m["amount"].sum())`, "sum of amount", `m = orders.merge(items, on="order").drop_duplicates(["order"]); print(m["amount"].sum())`},
	{`e = tagged.explode("tags"); print(e.amount.sum())`, "sum of amount, whose values were multiplied by explode", `e = tagged.explode("tags"); print(tagged.amount.sum(), e.tags.nunique())`},
	{`print(pl.DataFrame(orders).join(pl.DataFrame(items), on="order")["amount"].sum())`, "sum of amount", `print(pl.DataFrame(orders).join(pl.DataFrame(items), on="order")["qty"].sum())`},
	{`j = pl.DataFrame(orders).join(pl.DataFrame(items), on="order", how="left")
print(j.group_by("customer").agg(pl.col("amount").sum()))`, "sum of amount", `j = pl.DataFrame(orders).join(pl.DataFrame(customers), on="customer", how="left")
print(j.group_by("city").agg(pl.col("amount").sum()))`},
	{`print(pl.DataFrame(orders).join(pl.DataFrame(items), on="order").select(pl.col("amount").mean()))`, "mean of amount", `print(pl.DataFrame(orders).select(pl.col("amount").mean()))`},
	{`j = pl.DataFrame(orders).join(pl.DataFrame(notes), on="customer")`, "keys repeat on both sides", `j = pl.DataFrame(orders).join(pl.DataFrame(notes), on="customer", how="semi")`},
	{`print(duckdb.sql("select sum(amount) from orders join items using (\"order\")").fetchall())`, "sum of amount", `print(duckdb.sql("select sum(qty) from orders join items using (\"order\")").fetchall())`},
	{`q = """with j as (select o.customer, sum(o.amount) as s from orders o left join items i on o."order" = i."order" group by 1)
select max(s) from j"""
print(duckdb.sql(q).fetchall())`, "sum of o.amount", `print(duckdb.sql('select c.city, sum(o.amount) from orders o join customers c on o.customer = c.customer group by 1').fetchall())`},
	{`con.execute('create table a as select "order" as o, amount, customer from orders')
con.execute("create table b as select \"order\" as o, qty from items")
con.execute("select avg(a.amount) from a, b where 1 = 1 and a.customer < 3")
con.execute("select avg(a.amount) from a join b on a.o = b.o").fetchall()`, "avg of a.amount", `con.execute('create table a as select "order" as o, amount from orders')
con.execute('create table b as select "order" as o, qty from items')
con.execute("select avg(b.qty) from a join b on a.o = b.o").fetchall()`},
	{`con.execute("create table a as select * from orders")
con.begin(); con.commit()
con.execute("select sum(amount) from a where state = 'Paid'").fetchall()`, "no row of 20 is left", `con.execute("create table a as select * from orders limit 0")
con.begin(); con.execute("insert into a select * from orders")
con.execute("select sum(amount) from a where state = 'paid'").fetchall(); con.rollback()
con.execute("drop table a; create table a as select * from orders where customer < 0; begin; insert into a select * from orders")
con.execute("select sum(amount) from a where state = 'paid'").fetchall(); con.commit()`},
	// keys that are lost
	{`m = orders.merge(few, on="customer"); print(m.amount.sum())`, "have no partner on customer and are lost", `m = orders.merge(customers[customers.city == "Bonn"], on="customer"); print(m.amount.sum())`},
	{`m = orders.merge(few, on="customer", how="left"); print(m.groupby("city").amount.sum())`, "have no partner on customer: what they get is missing", `m = orders.merge(few, on="customer", how="left"); m["city"] = m.city.fillna("unknown")`},
	{`m = orders.merge(coded, left_on="customer", right_on="code")`, "no key of either side is in the other", `m = orders.assign(code=orders.customer + 1000).merge(coded, on="code")`},
	{`j = pl.DataFrame(orders).join(pl.DataFrame(few), on="customer")`, "are lost", `j = pl.DataFrame(orders).join(pl.DataFrame(few), on="customer", how="anti")`},
	{`duckdb.sql("select * from orders join few using (customer)").df()`, "have no partner in few and are lost", `duckdb.sql("select * from orders join customers using (customer)").df()`},
	{`m = pd.concat([orders.set_index("order").amount, items.groupby("order").qty.sum().rename(lambda n: n + 1000)], axis=1)`, "rows of different index", `m = pd.concat([orders.set_index("order").amount, items.groupby("order").qty.sum()], axis=1)`},
	// missing values, and what cannot be read
	{`print(gaps.groupby("kind").v.sum())`, "2 of 6 rows have no key", `print(gaps.groupby("kind", dropna=False).v.sum())`},
	{`print(gaps.pivot_table(index="kind", values="v", aggfunc="sum"))`, "2 of 6 rows have no key", `print(gaps.dropna(subset=["kind"]).pivot_table(index="kind", values="v", aggfunc="sum"))`},
	{`x = pd.to_numeric(pd.Series(["1", "1,200", "3"]), errors="coerce")`, "such as '1,200'", `x = pd.to_numeric(pd.Series(["1", "1,200", "3"]).str.replace(",", ""), errors="coerce")`},
	{`x = pd.to_datetime(pd.Series(["2020-01-31", "31.01.2020"]), errors="coerce")`, "1 of 2 values become missing", `x = pd.to_datetime(pd.Series(["2020-01-31", "n/a"]), errors="coerce")`},
	// totals beside details
	{`print(regions.sales.sum())`, "region has 'Total' beside details", `print(regions[regions.region != "Total"].sales.sum())`},
	{`print(regions.groupby("year").sales.sum())`, "region has 'Total' beside details", `print(regions[regions.region == "Total"].groupby("year").sales.sum())`},
	{`print(regions.set_index("region").sales.idxmax())`, "region has 'Total'", `print(regions.set_index("region").drop("Total").sales.idxmax())`},
	{`r = pl.DataFrame(regions); print(r["sales"].mean())`, "region has 'Total'", `print(pl.DataFrame(regions).filter(pl.col("region") != "Total")["sales"].mean())`},
	// filters
	{`print(orders[orders.state == "Paid"].amount.sum())`, "no row is left", `print(orders[orders.state == "paid"].amount.sum())`},
	{`bad = orders[orders.amount < 0]; y = bad.state.nunique()`, "no row is left", `lost = orders[orders["state"].isna()]; twice = orders[orders.duplicated()]; y = lost.state.nunique() + twice.amount.sum()`},
	{`paid = orders[(orders.state == "Paid") & ~orders.amount.isna()]; y = paid.amount.sum()`, "no row is left", `lost = orders[orders.amount.isna()]; y = lost.amount.sum()`},
	{`x = orders.query("state == 'Paid'"); y = x.amount.mean()`, "no row is left", `x = orders.query("state == 'paid'"); y = x.amount.mean()`},
	{`x = orders.loc[orders.state.isin(["Paid"]), "amount"].sum()`, "no row is left", `bad = orders[orders.amount < 0]; print(len(bad))`},
	{`ok = orders[orders.state != "Canceled"]; print(ok.amount.sum())`, "it leaves out none", `ok = orders[orders.state != "cancelled"]; print(ok.amount.sum())`},
	{`x = pl.DataFrame(orders).filter(pl.col("state") == "Paid")["amount"].sum()`, "no row is left", `x = pl.DataFrame(orders).filter(pl.col("state") == "paid")["amount"].sum()`},
	{`duckdb.sql("select sum(amount) from orders where state = 'Paid'").df()`, "no row of 20 is left", `duckdb.sql("select sum(amount) from orders where state = 'paid'").df()`},
	{`duckdb.sql("select sum(amount) from orders where state <> 'Canceled'").df()`, "leaves out none", `duckdb.sql("select sum(amount) from orders where state <> 'cancelled'").df()`},
}

func TestRowsWarn(t *testing.T) {
	var cells []string
	for _, trap := range traps {
		cells = append(cells, trap.wrong, trap.right)
	}
	said := inIPython(t, true, "sys.modules['dsstar_rows'].of_cell()", cells)
	for i, trap := range traps {
		if wrong := string(said[2*i]); !strings.Contains(wrong, `"! line `) || !strings.Contains(wrong, trap.warning) {
			t.Errorf("%s\ndoes not warn of %q: %s", trap.wrong, trap.warning, wrong)
		}
		if right := string(said[2*i+1]); strings.Contains(right, `"! `) {
			t.Errorf("%s\nwarns: %s", trap.right, right)
		}
	}
}

// TestRowsChangeNothing: what cells print, raise, return, bind and write is the same without the program.
func TestRowsChangeNothing(t *testing.T) {
	cells := []string{
		`orders.merge(items, on="missing")`,
		"def f(a):\n    return a.merge(items, on=\"missing\")[lambda d: d.x > 1]\nf(orders)",
		"import traceback\ntry:\n    orders[orders.nothing > 3]\nexcept Exception:\n    print(traceback.format_exc())",
		`duckdb.sql("select nothing from orders join items on 1 = 1")`,
		`pd.to_datetime(pd.Series(["31.01.2020", "2020-01-31"]), errors="coerce")`,
		"x = orders[orders.amount > 12]\nx['amount'] = 0\nx.amount.sum()",
		"orders['amount'].fillna(0, inplace=True)\norders.dropna(inplace=True)\norders.drop_duplicates('customer', inplace=True)\nlen(orders)",
		"import warnings\ndef g():\n    warnings.warn('here', stacklevel=2)\nprint(len([g()]))\ng()",
		`pl.DataFrame(orders).filter(pl.col("nothing") > 1)`,
		`pl.DataFrame(orders).groupby("customer")`,
		"print(np.random.rand(2), orders.sample(3, random_state=1).order.sum(), orders.sample(2).shape)",
		"%time y = orders.merge(items, on='order')\ny.shape",
		"%%capture out\nprint(orders[orders.amount > 12].shape)",
		"class Mine(pd.DataFrame):\n    @property\n    def _constructor(self):\n        return Mine\n    def total(self):\n        return super().sum(numeric_only=True)\nm = Mine(orders)\ntype(m[m.amount > 12].merge(items)), m.total()",
		"import pickle\np = pickle.dumps(orders.merge(items))\nlen(p), pickle.loads(p).equals(orders.merge(items)), orders.attrs, orders.merge(items).attrs",
		"i = orders.set_index(['customer', 'order'])\ni.loc[(1, slice(None)), :].amount.sum(), i.loc[i.amount > 12].groupby(level=0).size().to_dict()",
		"import inspect\ndef h(d):\n    return d[d.amount > 12]\nprint(h(orders).shape, inspect.signature(pd.merge) == inspect.signature(pd.DataFrame.merge), pd.merge.__module__)",
		"import cloudpickle\ndef k(d):\n    return d.merge(d)\nlen(cloudpickle.dumps(k)) > 0, cloudpickle.loads(cloudpickle.dumps(h))(orders).shape, h.__code__.co_names",
		"[(n, v) for n, v in zip(['a'], [d[d.amount > 12] for d in [orders]])], {k: len(v) for k, v in orders.groupby('customer')}",
		"if (n := len(orders[orders.amount > 12])) > 3:\n    print(f'{n:>5} {orders[orders.amount > 12].amount.sum():.1f}')",
		"import sys\nz = orders.copy()\nprint(sys.getrefcount(z))\nw = z.merge(items)\nv = z[z.amount > 0]\nprint(sys.getrefcount(z), sys.getrefcount(w), sys.getrefcount(v))",
		"both = orders.merge(items, how='left', indicator=True)\nboth.amount.sum(), orders.assign(kind=pd.Categorical(['a', 'b', 'c', 'Total'] * 5)).amount.sum()",
		"orders.merge(items).to_csv('a.csv'); orders.pivot_table(index='customer', values='amount').to_parquet('a.parquet')",
		"con.execute('create table t as select * from t_orders'); con.execute('begin'); con.execute('delete from t where o > 3')\nprint(con.execute('select count(*) from t').fetchall()); con.execute('rollback'); con.execute('select * from t where o > 17')\nprint(con.fetchall())",
		"r = duckdb.sql('select customer, amount from orders where amount > 25')\nprint(r, r.filter('amount > 27').fetchall())",
		"con.execute('create temp table tt as select range as i from range(5)'); con.execute('select i from tt')\ncon.sql('select count(*) from tt where i > 1')\nprint(con.fetchall())",
		"ran = []\ndef f(i: int) -> int:\n    ran.append(i)\n    return i\ncon.create_function('f', f)\ncon.execute('create table u as select range as i from range(5)')\ncon.execute('select i from u where f(i) > 1').fetchall()\nprint(len(ran))",
		"class C:\n    shape = [1, 2]\nc = C()\nc.shape[0] = 5\nc.shape[0] += 1\nprint(c.shape)\ndel c.shape[0]\nprint(c.shape)",
		"def gen():\n    got = yield orders[orders.amount > 12]\n    yield got.merge(items)\nit = gen()\nnext(it).shape, it.send(orders).shape",
		"async def a():\n    return orders[orders.amount > 12].shape\nawait a()",
		"' '.join(['a', 'b']), {'a': 1}['a'], [1, 2][0], 'x'.count('x'), [1].count(1), dict(sum=3)['sum'], __import__('os').path.join('a', 'b')",
		"1 +",
		"raise SystemExit(3)",
	}
	of := `[quiet.getvalue() if "%time" not in cell else "", errors.getvalue(), repr(done.error_in_exec), repr(done.result),
		sorted(k for k in shell.user_ns if not k.startswith("_")), sorted(os.listdir(".")), repr(np_state())]`
	of = strings.ReplaceAll(of, "np_state()", `__import__("numpy").random.get_state()[1][:5]`)
	with, without := inIPython(t, true, of, cells), inIPython(t, false, of, cells)
	for i, cell := range cells {
		if a, b := string(with[i]), string(without[i]); a != b {
			at := 0
			for at < min(len(a), len(b)) && a[at] == b[at] {
				at++
			}
			t.Errorf("%s\ngives\n%.200s\nand without\n%.200s", cell, a[at:], b[at:])
		}
	}
}

// TestReceipts: a number of an answer is traced if there is one way to it.
func TestReceipts(t *testing.T) {
	read := "orders.to_csv('orders.csv', index=False)\no = pd.read_csv('orders.csv')\nsys = __import__('sys')\nsys.modules['dsstar_rows'].results.clear()\n"
	half := "10 of 20 rows of orders.csv; o.state == 'paid': 10"
	cases := []struct{ cell, answer, want string }{
		{`paid = o[o.state == "paid"]; len(paid)`, "10", `[["10", "` + half + `"]]`},
		{`o.query("state == 'paid'").amount.sum()`, "195", `[["195", "10 of 20 rows of orders.csv; state == 'paid': 10; sum of amount"]]`},
		{`paid = o[o.state == "paid"]; paid.amount.mean(), paid.shape[0]`, "19.50 of 10", `[["19.50", "` + half + `; mean of amount"], ["10", "` + half + `"]]`},
		{`o.groupby("state").amount.sum()["open"]`, "97.50", `[["97.50", "20 of 20 rows of orders.csv; sum of amount by state: open"]]`},
		{`p = o[o.state == "paid"]; p.amount.sum() / o.amount.sum()`, "48.75", `[["48.75", "` + half + `; sum of amount / 20 of 20 rows of orders.csv; sum of amount"]]`},
		{`o[o.state == "open"].amount.sum() + 1`, "98.5", `[["98.5", ""]]`},
		{`len(o[o.state == "open"]), len(o[o.state == "cancelled"])`, "5", `[["5", ""]]`},
		{`o.amount.head(1).mean()`, "In 2016, 10 or 11 stores", `[["2016", ""], ["10", ""], ["11", ""]]`},
		{`b = pd.concat([o] * 101); len(b), len(o)`, "Of 30 days in 2020, 2,020", `[["30", ""], ["2020", ""], ["2,020", "2,020 of 2,020 rows of orders.csv"]]`},
		{`question = "Which of 16 stores?"; len(o[o.customer > 0])`, "of 16", `[["16", ""]]`},
	}
	var cells []string
	for _, c := range cases {
		cells = append(cells, read+c.cell+"\nanswer = "+brief.Python(c.answer))
	}
	said := inIPython(t, true, `(lambda s: s.getvalue())((lambda s: [contextlib.redirect_stdout(s).__enter__(), `+
		`sys.modules["dsstar_rows"].receipts(shell.user_ns["answer"], shell.user_ns.pop("question", "")), setattr(sys, "stdout", sys.__stdout__)] and s)(io.StringIO()))`, cells)
	for i, c := range cases {
		var got string
		must(0, json.Unmarshal(said[i], &got))
		if got = strings.TrimSpace(got); got != c.want {
			t.Errorf("%s, %s: %s, not %s", c.cell, c.answer, got, c.want)
		}
	}
}

// BenchmarkRows measures what counting costs: how long a cell takes with the program by how long it takes without,
// the fastest of some times each, side by side.
func BenchmarkRows(b *testing.B) {
	const n = "n = 1_000_000; r = np.random.default_rng(0)\nf = pd.DataFrame({'k': r.integers(0, 100_000, n), 's': r.choice(['a', 'b', 'c'], n), 'v': r.random(n)})\n" +
		"d = pd.DataFrame({'k': range(100_000), 'w': 1.0}); pf, pd_ = pl.DataFrame(f), pl.DataFrame(d)"
	for name, cell := range map[string]string{
		"merge":  "f.merge(d, on='k')",
		"filter": "f[f.v > 0.5]; f[f.s == 'a'].v.sum()",
		"groups": "f.groupby('k').v.sum(); f.groupby('s').v.mean()",
		"polars": "pf.join(pd_, on='k').group_by('s').agg(pl.col('v').sum())",
		"duckdb": "duckdb.sql('select s, sum(v) from f join d using (k) group by s').fetchall()",
		"loop":   "x = 0\nw = {i: i for i in range(1000)}\nfor i in range(1_000_000):\n    x += w[i % 1000] + len('ab')",
		"small":  "for i in range(300):\n    orders[orders.amount > i % 20].merge(customers).amount.sum()",
	} {
		b.Run(name, func(b *testing.B) {
			best := func(counts bool) float64 {
				cells := []string{n}
				for range 7 {
					cells = append(cells, cell)
				}
				var times []float64
				for _, said := range inIPython(b, counts, "took", cells)[1:] {
					var took float64
					must(0, json.Unmarshal(said, &took))
					times = append(times, took)
				}
				return slices.Min(times)
			}
			for b.Loop() {
				without := best(false)
				b.ReportMetric(without*1000, "ms")
				b.ReportMetric(best(true)/without, "ratio")
			}
		})
	}
}
