package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dsstar/kernel"
)

// A commandLine is what the user typed, for hints that repeat it with a change. The address of a
// server is in it without the token.
type commandLine struct {
	command string // "dsstar nb"
	flags   []typedFlag
	rest    string // the arguments
}

// A typedFlag is a flag with its value, as it is pasted.
type typedFlag struct{ name, text string }

func newCommandLine(cmd *cobra.Command, args []string) commandLine {
	c := commandLine{command: cmd.CommandPath()}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			switch server, err := kernel.NewServer(value, ""); {
			case f.Name == "server": // the settings have checked it
				value = server.URL
			case f.Name == "kernel" && err == nil:
				value, _, _ = strings.Cut(value, "?")
			}
			text := "--" + f.Name
			if f.Value.Type() != "bool" {
				text += " " + quoteShell(value)
			}
			c.flags = append(c.flags, typedFlag{f.Name, text})
		}
	})
	var words []string
	for _, arg := range args {
		words = append(words, quoteShell(arg))
	}
	if cmd.Name() == "nb" && (len(args) == 0 || args[0] == "-") {
		words = append(words, "< question.txt")
	}
	c.rest = strings.Join(words, " ")
	return c
}

func (c commandLine) String() string {
	words := []string{c.command}
	for _, f := range c.flags {
		words = append(words, f.text)
	}
	if c.rest != "" {
		words = append(words, c.rest)
	}
	return strings.Join(words, " ")
}

// with returns the command line with a flag at its beginning.
func (c commandLine) with(flag string) string {
	c.command += " " + flag
	return c.String()
}

// without returns the command line without a flag.
func (c commandLine) without(name string) commandLine {
	c.flags = slices.DeleteFunc(slices.Clone(c.flags), func(f typedFlag) bool { return f.name == name })
	return c
}

// quoteShell quotes a path so that a hint can be pasted.
func quoteShell(path string) string {
	if path == "" || strings.ContainsFunc(path, func(r rune) bool { return strings.ContainsRune(" '\"\\$`!*?&;|<>()[]{}#~\t\n", r) }) {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}
