package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/agent/llm/llmtest"
	"dsstar/kernel/pyenv/pyenvtest"
)

// sales is a notebook whose user is about to ask a question.
const sales = `{"cells": [
 {"cell_type": "code", "id": "load", "execution_count": null, "metadata": {}, "outputs": [],
  "source": "import pandas as pd\nsales = pd.read_csv('sales.csv')\ntargets = pd.Series({'North Gate': 50, 'South': 60, 'Harbour': 10})"},
 {"cell_type": "code", "id": "extension", "execution_count": null, "metadata": {}, "outputs": [],
  "source": "%load_ext dsstar"}],
 "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}},
 "nbformat": 4, "nbformat_minor": 5}`

// aboutStores returns a model that needs two steps, and leaves a reading of the question open.
func aboutStores() roles {
	return roles{
		"solver": say("Reading: Whether returned items count as sold.\nOption 1: They do not\n"+
			"Option 2: They count\nTaken: 1\nEvidence: none\nSettled: no\n\n"+
			"Step: Leave out the returned sales and add up the amounts of each store.\n\n"+
			cell("kept = sales[sales['returned'] == 'no']\nby_store = kept.groupby('store')['amount'].sum()"+
				".sort_values(ascending=False)\nprint(by_store)"),
			"Step: Compare each store with its target.\n\n"+cell("ranking = by_store.rename('sold')"+
				".to_frame().assign(target=targets)\nranking['above'] = ranking['sold'] - ranking['target']\n"+
				"print(ranking)")),
		"verdict": say("Verdict: unfinished\nReason: the targets are not compared yet.", sufficient),
		"last": say(cell("print(ranking.to_string())\nsummary = 'North Gate sold most, and is the only store " +
			"above its target.'\nsummary")),
		"branches": say("Branch 1.2\nKeeps: 0\n\n" + cell("all = sales.groupby('store')['amount'].sum()"+
			".sort_values(ascending=False).rename('sold').to_frame().assign(target=targets)\n"+
			"all['above'] = all['sold'] - all['target']\nanswer = all.to_string()\nanswer")),
		"second": say(cell("t = sales.loc[sales.returned.eq('no')].pivot_table(index='store', " +
			"values='amount', aggfunc='sum').rename(columns={'amount': 'sold'})" +
			".sort_values('sold', ascending=False)\nt['target'] = targets\nt['above'] = t.sold - t.target\n" +
			"answer = t.to_string()\nanswer")),
	}
}

// TestLabMagic asks a question in a cell of JupyterLab, watches it being answered there, and goes on
// with its cells and its value.
func TestLabMagic(t *testing.T) {
	pyenvtest.Long(t)
	t.Parallel()
	goOn := make(chan bool)
	reply := aboutStores().reply()
	model := llmtest.New(t, func(r llmtest.Request) llmtest.Response {
		if roleOf(r) == "judge" {
			select { // wait until the test has seen the step
			case <-goOn:
			case <-t.Context().Done():
			}
		}
		return reply(r)
	})
	l := startMagicLab(t, model.URL)
	l.write("sales.csv", "store,amount,returned\nNorth Gate,40,no\nSouth,50,yes\nNorth Gate,22,no\nHarbour,9,no\n")
	l.write("analysis.ipynb", sales)
	l.do(nil, "open", "analysis.ipynb")
	l.do(nil, "run_all")

	var printed string
	l.do(&printed, "run_new", "%%dsstar\nWhich store sold most, and is it above its target?")
	for _, step := range []string{"Leave out the returned sales", "Compare each store"} {
		l.shows(step)
		l.shows("asking the judge")
		l.shows("working", step, "%dsstar stop")
		l.picture("asking.png")
		goOn <- true
	}
	l.shows("It depends on a reading")
	l.shows("%dsstar choose 2", "They count", "North Gate sold most", "Notebook of the run")
	l.picture("depends.png")
	close(goOn)

	l.do(&printed, "run_new", "%dsstar choose 1")
	l.shows("verified")
	l.do(&printed, "run_new", "%dsstar insert")
	var cells []string
	l.do(&cells, "sources")
	if last := cells[len(cells)-1]; !strings.Contains(last, "ranking = by_store") {
		t.Errorf("the last cell is %q", last)
	}
	l.do(&printed, "run_new", "table = %dsstar result\nprint(type(table).__name__, table.loc['North Gate', 'above'])")
	if printed != "DataFrame 12\n" {
		t.Errorf("the value is %q", printed)
	}
	l.picture("answered.png")
	l.do(nil, "dark")
	l.picture("dark.png")

	// The link leads to the run's notebook, in JupyterLab.
	l.do(nil, "follow", "notebook.ipynb")
	l.shows("Which store sold most", "Verified")

	// The notebook is closed and opened again while its kernel lives.
	l.do(nil, "open", "analysis.ipynb")
	l.do(&printed, "run_new", "%dsstar")
	l.shows("verified", "North Gate sold most")
}

// startMagicLab starts a JupyterLab whose kernels have the extension and the program.
func startMagicLab(t *testing.T, url string) *lab {
	t.Helper()
	bin := t.TempDir()
	if err := os.Symlink(os.Args[0], filepath.Join(bin, "dsstar")); err != nil {
		t.Fatal(err)
	}
	extension, err := filepath.Abs("python")
	if err != nil {
		t.Fatal(err)
	}
	return startLab(t, map[string]string{
		"PATH": bin + string(filepath.ListSeparator) + os.Getenv("PATH"), "PYTHONPATH": extension,
		asProgram: "1", "DSSTAR_MODEL": "scripted", "DSSTAR_BASE_URL": url,
	})
}
