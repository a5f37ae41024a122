package agent

import (
	"strings"
	"testing"

	"dsstar/agent/record"
)

func TestUsesResults(t *testing.T) {
	task := record.Task{Data: "/data"}
	earlier := strings.Join((&record.Trajectory{Task: task}).Cells(), "\n") + `
import pandas as pd
df = pd.read_csv("data/a.csv", sep=";")
total, mean = df["x"].sum(), df["x"].mean()
for row in df.itertuples():
    counts[row.x] += 1
with open("f") as f:
    lines = f.readlines()
def best(rows): return rows[0]
if (größe := len(lines)) > 3: pass
text = "secret"  # comment
`
	cases := []struct {
		last string
		want bool
	}{
		{"print(total)", true},
		{"print(round(mean, 2))", true},
		{`print(f"{total:.2f}")`, true},
		{`print(f'a: {df["x"].max()}')`, true},
		{"print(best(lines))", true},
		{"print(größe)", true},
		{"answer = total\nprint(answer)", true},
		{`import pandas as pd` + "\n" + `print(len(pd.read_csv("data/b.csv")))`, true},
		{"print(42)", false},
		{`print("total")`, false},
		{`print("total: 42")  # from total`, false},
		{`print(f"total {42}")`, false},
		{"'''total'''\nprint(42)", false},
		{"answer = 42\nprint(answer)", false},
		{"total = 999\nprint(total)", false},
		{"total = round(total, 2)\nprint(total)", true},
		{"for row in lines:\n    print(row)", true},
		{"for total in [1]:\n    print(total)", false},
		{"print(42)  # data/a.csv", false},
		{"import pandas as pd\nprint(round(4.2, 1))", false},
		{"import numpy as np\nprint(np.round(4.2, 1))", false},
		{`print("a", "b", sep=";")`, false},
		{"", false},
	}
	for _, c := range cases {
		if got := usesResults(c.last, earlier); got != c.want {
			t.Errorf("%q: %v, want %v", c.last, got, c.want)
		}
	}
}

func TestEndsWith(t *testing.T) {
	for _, c := range []struct {
		out, answer, printed string
		want                 bool
	}{
		{"1", "1", "", true},
		{"a\n1", "1", "a\n", true},
		{"a\n  1", "1", "a\n", true},
		{"11", "1", "", false},
		{"11", "1", "a\n", false},
		{"a\n2", "1", "a\n", false},
		{"rows 51", "1", "rows 5", true}, // print("rows 5", end="")
		{"a\nrows 5 1", "1", "a\nrows 5 ", true},
		{"\rprogress 9\r1", "1", "\rprogress 9\r", true},
		{"rows 61", "1", "rows 5", false},
	} {
		if got := endsWith(c.out, c.answer, c.printed); got != c.want {
			t.Errorf("%q after %q, answer %q: %v", c.out, c.printed, c.answer, got)
		}
	}
}
