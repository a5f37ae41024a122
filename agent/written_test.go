package agent_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"testing"

	"dsstar/agent"
	"dsstar/agent/brief"
	"dsstar/kernel/pyenv/pyenvtest"
	compared "dsstar/notebook/compare"
)

// told runs cells in Python as a session does, each in a folder of its own, and returns what it
// tells of the file that each has written.
const told = `
import contextlib, io, json, os
assert not {"matplotlib", "pandas"} & set(sys.modules)
import matplotlib
matplotlib.use("agg")
matplotlib.rc("figure", dpi=20, figsize=(2, 2))
from matplotlib.backends.backend_agg import FigureCanvasAgg
FigureCanvasAgg.draw = FigureCanvasAgg.get_renderer  # nobody looks at the pictures
import matplotlib.pyplot as plt, numpy as np, pandas as pd, seaborn as sns
t = pd.DataFrame({"store": ["N", "S", "W"], "n": [3, 4, 5.5]})
days = pd.Series([1, 2, 3], pd.date_range("2024-01-01", periods=3, freq="D"))
wide = pd.DataFrame([[1, 2], [3, 4]], ["r", "s"], ["u", "v"])
texts = []
for n, (name, code) in enumerate(cases):
    os.mkdir(str(n))
    os.chdir(str(n))
    exec(code)
    plt.close("all")
    out = io.StringIO()
    with contextlib.suppress(Exception), contextlib.redirect_stdout(out):
        module.tell(os.path.abspath(name))
    texts.append(out.getvalue().strip())
    os.chdir("..")
print(json.dumps(texts))`

// TestWhatIsDrawn: charts are compared by the data that they show, and tables of any format by
// their cells, whatever draws or writes them.
func TestWhatIsDrawn(t *testing.T) {
	const bars = `plt.bar(t.store, t.n); plt.savefig("a.png")`
	const line = `plt.plot(days.index, days); plt.savefig("a.png")`
	const pair = `plt.plot([1, 2]); plt.plot([3, 4]); plt.savefig("a.png")`
	const legend = `plt.plot([1, 2]); plt.plot([3, 4]); plt.legend(["a", "b"]); plt.savefig("a.png")`
	const both = `plt.bar([0, 1], [1, 2], 0.3); plt.bar([0, 1], [3, 4], 0.3); plt.savefig("a.png")`
	const said = `plt.bar(t.store, t.n); [plt.text(i, v, v) for i, v in enumerate(t.n)]; plt.savefig("a.png")`
	const titled = `plt.title("Orders of North"); plt.ylabel("units"); plt.bar(t.store, t.n); plt.savefig("a.png")`
	const book = `t.to_excel("a.xlsx", index=False)`
	const heat = `sns.heatmap(wide); plt.savefig("a.png")`
	cases := []struct {
		file, first, second string
		want                compared.Sameness
	}{
		{"a.png", bars, `plt.title("Orders"); plt.bar(t.store, t.n, color="red", width=0.3); plt.savefig("a.png")`, compared.Same},
		{"a.png", bars, `t[::-1].plot.barh("store", "n").figure.savefig("a.png")`, compared.Same},
		{"a.png", bars, `sns.barplot(t, x="store", y="n").figure.savefig(open("a.png", "wb"))`, compared.Same},
		{"a.png", bars, `u = pd.concat([t, t]); sns.barplot(u, x="store", y="n"); plt.savefig("a")`, compared.Same},
		{"a.png", bars, `plt.bar(t.store, t.n.to_numpy() + 1e-13); plt.savefig("a.png")`, compared.Same},
		{"a.png", bars, `plt.bar(t.store, [3, 4, 7]); plt.savefig("a.png")`, compared.Different},
		{"a.png", bars, `plt.bar(["S", "N", "W"], t.n); plt.savefig("a.png")`, compared.Different},
		{"a.png", bars, `plt.plot(t.store, t.n); plt.savefig("a.png")`, compared.Unsure},
		{"a.png", bars, `plt.savefig("a.png"); open("a.png", "ab").write(b" ")`, compared.Unsure},
		{"a.png", bars, `open("a.png", "wb").write(b"")`, compared.Unsure},
		{"a.png", `plt.savefig("a.png")`, `plt.savefig("a.png")`, compared.Different},
		{"a.svg", `plt.hist([1, 2, 2, 5]); plt.savefig("a.svg")`, `pd.Series([5, 2, 1, 2]).plot.hist(); plt.savefig("a.svg")`, compared.Same},
		{"a.pdf", `plt.pie([1, 2], labels="ab"); plt.savefig("a.pdf")`, `plt.pie([2, 1], labels="ba"); plt.savefig("a.pdf")`, compared.Same},
		{"a.png", `plt.pie([1, 2], labels="ab"); plt.savefig("a.png")`, `plt.pie([2, 1], labels="ab"); plt.savefig("a.png")`, compared.Different},
		{"a.png", line, `sns.lineplot(x=days.index, y=days); plt.grid(); plt.savefig("a.png")`, compared.Same},
		{"a.png", line, `plt.plot(days.index, days + 1); plt.savefig("a.png")`, compared.Different},
		{"a.png", line, `days.plot(); plt.savefig("a.png")`, compared.Same},
		{"a.png", line, `plt.plot(days.index, days); plt.axhline(2); plt.savefig("a.png")`, compared.Unsure},
		{"a.png", `plt.scatter([1, 2], [3, 4]); plt.savefig("a.png")`, `plt.plot([2, 1], [4, 3], "o"); plt.savefig("a.png")`, compared.Same},
		{"a.png", `plt.plot([1], label="a"); plt.plot([2], label="b"); plt.savefig("a.png")`, `plt.plot([2], label="a"); plt.plot([1], label="b"); plt.savefig("a.png")`, compared.Different},
		{"a.png", heat, `plt.imshow(wide); plt.xticks([0, 1], wide.columns); plt.yticks([0, 1], wide.index); plt.savefig("a.png")`, compared.Same},
		{"a.png", heat, `sns.heatmap(wide[["v", "u"]], annot=True, cbar=False); plt.savefig("a.png")`, compared.Same},
		{"a.png", heat, `sns.heatmap(wide.T); plt.savefig("a.png")`, compared.Different},
		{"a.png", `plt.fill_between([1, 2], [3, 4]); plt.savefig("a.png")`, `plt.fill_between([1, 2], [3, 5]); plt.savefig("a.png")`, compared.Unsure},
		{"a.png", `plt.subplots(1, 2)[1][0].plot([1]); plt.plot([2]); plt.savefig("a.png")`, `plt.subplots(2)[1][1].plot([1]); plt.gcf().axes[0].plot([2]); plt.savefig("a.png")`, compared.Same},
		{"a.png", `plt.subplot(projection="polar").plot([1]); plt.savefig("a.png")`, bars, compared.Unsure},
		{"a.png", pair, `plt.plot([3, 4]); plt.plot([1, 2]); plt.savefig("a.png")`, compared.Same},
		{"a.png", legend, `plt.plot([1, 2]); plt.plot([3, 4]); plt.legend(["b", "a"]); plt.savefig("a.png")`, compared.Different},
		{"a.png", both, `plt.bar([0, 1], [1, 4], 0.3); plt.bar([0, 1], [3, 2], 0.3); plt.savefig("a.png")`, compared.Different},
		{"a.png", both, `plt.bar([0, 1], [3, 4], 0.2); plt.bar([0, 1], [1, 2], 0.2); plt.savefig("a.png")`, compared.Same},
		{"a.png", `w, _ = plt.pie([1, 2]); plt.legend(w, "ab"); plt.savefig("a.png")`, `plt.pie([1, 2], labels="ab"); plt.savefig("a.png")`, compared.Same},
		{"a.png", pair, `plt.plot([1, 2]); plt.plot([3, 4]); plt.ylim(-2, -1); plt.savefig("a.png")`, compared.Different},
		{"a.png", pair, `plt.plot([1, 2]); plt.plot([3, 4]); plt.ylim(4, 1); plt.savefig("a.png")`, compared.Same},
		{"a.png", bars, `plt.bar(t.store, t.n); plt.ylim(1, 3.5); plt.savefig("a.png")`, compared.Same},
		{"a.png", said, `plt.bar(t.store, t.n); [plt.text(i, v, v * 2) for i, v in enumerate(t.n)]; plt.savefig("a.png")`, compared.Unsure},
		{"a.png", titled, `plt.title("Orders of North"); plt.ylabel("thousand units"); plt.bar(t.store, t.n); plt.savefig("a.png")`, compared.Unsure},
		{"a.png", titled, `plt.title("Orders of North by store"); plt.ylabel("number of units"); plt.bar(t.store, t.n); plt.savefig("a.png")`, compared.Same},
		{"a.png", bars, titled, compared.Same},
		{"a.xlsx", book, `t[["n", "store"]][::-1].to_excel("a.xlsx", sheet_name="x", index=False)`, compared.Same},
		{"a.xlsx", `w = pd.ExcelWriter("a.xlsx"); t.to_excel(w, sheet_name="a"); w.close()`, `w = pd.ExcelWriter("a.xlsx"); wide.to_excel(w, sheet_name="b"); t.to_excel(w, sheet_name="a"); w.close()`, compared.Unsure},
		{"a.parquet", `t.to_parquet("a.parquet")`, `t[::-1].reset_index(drop=True).to_parquet("a.parquet", compression="gzip")`, compared.Same},
		{"a.feather", `t.to_feather("a.feather")`, `t.assign(n=0).to_feather("a.feather")`, compared.Different},
		{"a.pkl", `days.to_frame("n").to_pickle("a.pkl")`, `days[::-1].to_frame("n").to_pickle("a.pkl")`, compared.Same},
		{"a.pkl", `pd.to_pickle({1: 2}, "a.pkl")`, `pd.to_pickle({1: 3}, "a.pkl")`, compared.Unsure},
	}
	var asked [][2]string // each cell once
	for _, c := range cases {
		for _, code := range []string{c.first, c.second} {
			if one := [2]string{c.file, code}; !slices.Contains(asked, one) {
				asked = append(asked, one)
			}
		}
	}
	cmd := exec.Command(pyenvtest.Python(t), "-c", agent.Prelude(agent.Prove)+"\nimport json\ncases = json.loads("+
		brief.Python(string(must(json.Marshal(asked))))+")\n"+told)
	cmd.Dir, cmd.Stderr = t.TempDir(), os.Stderr
	var texts []string
	must(0, json.Unmarshal(must(cmd.Output()), &texts))
	for _, c := range cases {
		answer := func(code string) compared.Answer {
			return compared.Answer{Words: c.file, Files: []compared.File{{Name: c.file, Digest: "of " + code,
				Text: texts[slices.Index(asked, [2]string{c.file, code})]}}}
		}
		a, b := answer(c.first), answer(c.second)
		for _, found := range []compared.Finding{compared.Answers(a, b, compared.Asked{Decimals: -1}),
			compared.Answers(b, a, compared.Asked{Decimals: -1})} {
			if found.Sameness != c.want {
				t.Errorf("%s and %s: %+v, not %d: %s / %s", c.first, c.second, found, c.want, a.Files[0].Text, b.Files[0].Text)
			}
		}
	}
}
