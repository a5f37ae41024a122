package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dsstar/agent"
	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/site"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/kernel"
	"dsstar/kernel/pyenv"
	"dsstar/kernel/pyenv/pyenvtest"
	"dsstar/kernel/sandbox"
	"dsstar/notebook/disk"
)

// typed parses a command line as a shell and dsstar do. Values that do not fit their flags, such as
// placeholders of hints, are no error.
func typed(t *testing.T, line string) (cmd *cobra.Command, args []string) {
	t.Helper()
	words, err := exec.Command("sh", "-c", "printf '%s\\0' "+line).Output()
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	a, _, _ := testApp(t)
	root := a.rootCommand()
	root.InitDefaultCompletionCmd()
	cmd, rest, err := root.Find(strings.Split(strings.TrimSuffix(string(words), "\x00"), "\x00")[1:])
	if err == nil {
		cmd.InitDefaultHelpFlag()
		err = cmd.ParseFlags(rest)
	}
	if _, placeholder := errors.AsType[*pflag.InvalidValueError](err); err != nil && !placeholder {
		t.Errorf("%s: %v", line, err)
	}
	return cmd, cmd.Flags().Args()
}

// TestHintsKeepFlags: whatever fails, the commands that help are about what was typed: with its data,
// and another command with all settings that it has, too.
func TestHintsKeepFlags(t *testing.T) {
	failed := []error{
		llm.ErrConnection, &llm.StatusError{Status: 404}, &llm.StatusError{Status: 429}, &llm.ReplayError{},
		&llm.CredentialError{KeyEnv: "KEY"}, &llm.CredentialError{Unsent: true},
		fmt.Errorf("x: %w", llm.ErrContextLength), llm.ErrEmpty, &kernel.SpecNotFoundError{Available: []string{"python3"}},
		&kernel.ServerError{URL: "http://h/", Status: 500}, &kernel.BufferedError{ID: "1"},
		&kernel.ServerLostError{URL: "http://h/"}, site.ErrUnreachable,
		&pyenv.NoPythonError{}, &pyenv.InstallError{Err: errors.New("why")},
		fmt.Errorf("%w: %w", sandbox.ErrNone, &sandbox.MissingError{Tier: sandbox.Full, Err: errors.New("why")}),
		usage.New("", usage.Shell("dsstar memory")),
		usage.New("", usage.Again().Args("your question")),
		disk.ErrLocked, record.ErrInUse, sandbox.ErrExposed, sandbox.ErrUnsearched, sandbox.ErrWritable,
		sandbox.ErrReplaced, kernel.ErrConfined, sandbox.ErrProcesses, errInterrupted, agent.ErrStopped,
	}
	for _, line := range []string{
		"dsstar nb --base-url http://127.0.0.1:1/v1 --model 'a b' --api-key-env K --data d --max-rounds 3 'How many?'",
		"dsstar nb --kernel nothere --model m 'x?'", "dsstar nb --engine x --server http://h/ 'x?'", "dsstar nb -d d -d e < q.txt",
		"dsstar resume --model m --base-url http://h/v1 --review RUN", "dsstar describe d --model m --sandbox off",
		"dsstar memory --data d --memory m", "dsstar rerun --kernel k n.ipynb", "dsstar doctor --model m",
	} {
		cmd, args := typed(t, strings.Split(line, " <")[0])
		was := lineOf(cmd, args)
		for _, err := range failed {
			_, _, hints := explain(err, was)
			for _, hint := range hints {
				if command, _, _ := strings.Cut(hint, "   #"); strings.HasPrefix(command, "dsstar ") {
					checkHint(t, was, err, command)
				}
			}
		}
	}
}

func checkHint(t *testing.T, was usage.Line, err error, hint string) {
	t.Helper()
	cmd, _ := typed(t, strings.Split(hint, " <")[0])
	for _, f := range was.Flags {
		takes := cmd.Flags().Lookup(f.Name) != nil || cmd.PersistentFlags().Lookup(f.Name) != nil
		if cmd.CommandPath() != was.Command && takes && f.Alike &&
			!strings.Contains(hint, " --"+f.Name+" ") {
			t.Errorf("%s\n%v: --%s is not in the hint\n%s", usage.Again().On(was), err, f.Name, hint)
		}
	}
}

// TestHintsAreCommands: a hint in the code that begins with dsstar is a command with flags that it has.
func TestHintsAreCommands(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	below, err2 := filepath.Glob("internal/*/*.go")
	if errors.Join(err, err2) != nil {
		t.Fatal(err, err2)
	}
	n := 0
	for _, path := range slices.Concat(paths, below) {
		file := must(parser.ParseFile(token.NewFileSet(), path, nil, 0))
		ast.Inspect(file, func(node ast.Node) bool {
			literal, ok := node.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING || strings.HasSuffix(path, "_test.go") {
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			if command, _, _ := strings.Cut(text, "   #"); err == nil && strings.HasPrefix(command, "dsstar ") &&
				!strings.HasSuffix(text, " ") && !strings.Contains(text, "\n") { // no part of something
				typed(t, strings.NewReplacer("%s", "x", "(", "", ")", "").Replace(command))
				n++
			}
			return true
		})
	}
	if n < 20 {
		t.Errorf("only %d hints were found", n)
	}
}

// TestFlagGroups: help lists every flag once, and a command has all settings by its own flags or by
// their titles.
func TestFlagGroups(t *testing.T) {
	a, _, _ := testApp(t)
	for _, cmd := range a.rootCommand().Commands() {
		cmd.InitDefaultHelpFlag()
		help := cmd.UsageString()
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if n := strings.Count(help, " --"+f.Name+" "); n == 0 || f.Usage == "" {
				t.Errorf("%s: --%s is not in the help", cmd.Name(), f.Name)
			}
		})
	}
}

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
	input := must(json.Marshal(hints))
	bin := dataFolder(t, map[string]string{"dsstar": "#!/bin/sh\n[ \"$1 $2 $3\" = 'doctor --model a b' ] && exit 7\n"})
	extension := must(filepath.Abs("python"))
	noError(t, os.Chmod(filepath.Join(bin, "dsstar"), 0o700))
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
		noError(t, json.Unmarshal([]byte(text), &got))
		if diff := cmp.Diff(rows[i].want, got); diff != "" {
			t.Errorf("%s\n%s", rows[i].hint, diff)
		}
		i++
	}
	if i < len(rows) {
		t.Errorf("%d of %d hints\n%s", i, len(rows), out)
	}
}
