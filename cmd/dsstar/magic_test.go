package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsstar/kernel/pyenv/pyenvtest"
)

// TestMagicHints: what a notebook shows as help does in a cell what it does in a shell.
func TestMagicHints(t *testing.T) {
	t.Parallel()
	type done struct {
		Note   string
		Failed string
		Code   int
		Asked  [][]string
		Set    map[string]string
		Shown  bool
	}
	none, never := "''", [][]string{}
	rows := []struct {
		hint string
		want done
	}{
		{"export OPENAI_API_KEY='a b' DSSTAR_MODEL=openai/MODEL   # or another",
			done{"or another", none, 0, never, map[string]string{"OPENAI_API_KEY": "a b", "DSSTAR_MODEL": "openai/MODEL"}, true}},
		{`export TOKEN="$(echo it is)"`, done{"", none, 0, never, map[string]string{"TOKEN": "it is"}, true}},
		{"dsstar nb --max-cost 2 --kernel k.json --json --progress json --data 'a b' < question.txt   # costs more",
			done{"costs more", none, 0, [][]string{{"nb", "--max-cost=2", "--data=a b", "-", "How many?"}}, map[string]string{}, true}},
		{"dsstar resume --model a/b --kernel k.json RUN   # continues",
			done{"continues", none, 0, [][]string{{"resume", "--model=a/b", "RUN", "How many?"}}, map[string]string{}, true}},
		{"dsstar doctor --model 'a b' --kernel k.json   # tries it", done{"tries it", none, 7, never, map[string]string{}, true}},
		{"true   # it is", done{"it is", none, 0, never, map[string]string{}, true}},
		{"sudo sysctl -e -w x=1   # lets it", done{"in a terminal: sudo sysctl -e -w x=1   # lets it", "", 0, never, map[string]string{}, true}},
		{"%env SEEN=1   # in a cell,", done{"in a cell,", none, 0, never, map[string]string{"SEEN": "1"}, true}},
	}
	var hints []string
	for _, row := range rows {
		hints = append(hints, row.hint)
	}
	input, err := json.Marshal(hints)
	if err != nil {
		t.Fatal(err)
	}
	bin := dataFolder(t, map[string]string{"dsstar": "#!/bin/sh\n[ \"$1 $2 $3\" = 'doctor --model a b' ] && exit 7\n"})
	extension, err := filepath.Abs("python")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(bin, "dsstar"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(pyenvtest.Python(t), "testdata/hints.py")
	cmd.Env = append(cleanEnv(), "PYTHONPATH="+extension, "PATH="+bin+":/usr/bin:/bin", "IPYTHONDIR="+t.TempDir())
	cmd.Stdin = strings.NewReader(string(input))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	i := 0
	for line := range strings.Lines(string(out)) {
		text, ours := strings.CutPrefix(line, "@@")
		if !ours {
			continue
		}
		var got done
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(rows[i].want, got); diff != "" {
			t.Errorf("%s\n%s", rows[i].hint, diff)
		}
		i++
	}
	if i < len(rows) {
		t.Errorf("%d of %d hints\n%s", i, len(rows), out)
	}
}
