package usage

import (
	"testing"

	"github.com/spf13/pflag"

	"dsstar/kernel/pyenv/pyenvtest"
)

// TestHints: a hint repeats the typed command line with its change, quoted once, without tokens.
func TestHints(t *testing.T) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.Bool("cache", true, "")
	flags.Bool("paper", false, "")
	flags.StringArray("role-model", nil, "")
	flags.String("server", "", "")
	flags.String("data", "", "")
	pyenvtest.OK(t, flags.Parse([]string{"--cache=false", "--paper", "--role-model", "a=b",
		"--role-model=c d", "--server", "http://h:1/lab?token=secret", "--data", "d"}))
	line := NewLine("dsstar nb", flags, []string{"what's it?"})
	const rest = ` --paper --role-model a=b --role-model 'c d' --server http://h:1/ 'what'\''s it?'`
	for _, c := range []struct {
		hint Hint
		want string
	}{
		{Again(), "dsstar nb --cache=false --data d" + rest},
		{Again("--data", "a b").Note("why"), "dsstar nb --data 'a b' --cache=false" + rest + "   # why"},
		{Again("--data", "x=env:X").Sparing(func(value string) bool { return value == "d" }),
			"dsstar nb --data x=env:X --cache=false --data d" + rest},
		{Again("--data", "~/venv").But("cache"), "dsstar nb --data ~/venv" + rest},
		{Without("data", "cache"), "dsstar nb" + rest},
		{Again("--yes").But("data"), "dsstar nb --yes --cache=false" + rest},
		{Shell("ls %s > %s   # 5 %", "%s", "a'b"), `ls %s > 'a'\''b'   # 5 %`},
	} {
		if got := c.hint.On(line); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	folder := Line{Command: "dsstar describe", Args: []string{"old", "a.csv"}, Folder: true}
	if got := Again("--data", "new").On(folder); got != "dsstar describe new a.csv" {
		t.Error(got)
	}
	line.Takes = func(_, flag string) bool { return flag == "server" || flag == "paper" }
	for i := range line.Flags {
		line.Flags[i].Alike = true
	}
	folder.Takes = line.Takes
	nb, resume := Line{Command: "dsstar nb", Takes: line.Takes}, Line{Command: "dsstar resume", Takes: line.Takes}
	for _, c := range []struct {
		line Line
		want string
	}{
		{line, "dsstar describe d --server http://h:1/   # why"}, {nb, "dsstar describe .   # why"},
		{folder, "dsstar describe old a.csv   # why"}, {resume, "dsstar describe DATA   # why"},
	} {
		if got := Shell("dsstar describe DATA   # why").But("paper").On(c.line); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	if only := line.Only("role-model", "cache"); len(only) != 3 ||
		only[2].String() != "--cache=false" {
		t.Errorf("%v", only)
	}
}
