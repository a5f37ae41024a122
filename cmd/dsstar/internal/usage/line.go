package usage

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"dsstar/cmd/dsstar/internal/ui"
	"dsstar/kernel"
	"dsstar/notebook/human"
)

// A Line is a command line as the user typed it. Server addresses in it have no
// token.
type Line struct {
	Typed   []string // its words, without the name of the program
	Command string   // "dsstar nb"
	Flags   []Flag
	Args    []string
	Input   string // " < FILE", if something was read from standard input
	Folder  bool   // the first argument is the data folder, and there is no flag --data
	// Takes reports whether the command of a command line of ours has a flag. It may be nil.
	Takes func(line, flag string) bool
}

// A Flag is a flag as the user typed it.
type Flag struct {
	Name, Value string
	Switch      bool // needs no value
	Alike       bool // means the same to all commands that have it
}

// Setting is the annotation of flags that set a key of the settings, with this key.
const Setting = "setting"

func (f Flag) String() string {
	switch {
	case !f.Switch:
		return "--" + f.Name + " " + human.Shell(f.Value)
	case f.Value == "true":
		return "--" + f.Name
	}
	return "--" + f.Name + "=" + f.Value
}

// NewLine returns the command line of a command with these flags and arguments.
func NewLine(command string, flags *pflag.FlagSet, args []string) Line {
	line := Line{Command: command, Args: args}
	flags.Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			switch server, err := kernel.NewServer(value, ""); {
			case f.Name == "server" && err == nil:
				value = server.URL
			case f.Name == "server" || f.Name == "kernel" && err == nil:
				value, _, _ = strings.Cut(value, "?")
			}
			line.Flags = append(line.Flags, Flag{f.Name, value, f.Value.Type() == "bool",
				f.Annotations[Setting] != nil || f.Name == "data"})
		}
	})
	return line
}

// Only returns the flags with these names, in the order of the names.
func (l Line) Only(names ...string) []Flag {
	var flags []Flag
	for _, name := range names {
		for _, f := range l.Flags {
			if f.Name == name {
				flags = append(flags, f)
			}
		}
	}
	return slices.Clip(flags)
}

// A Once is a flag that may be given only once, because a second value would silently
// replace the first.
type Once string

func (f *Once) String() string { return string(*f) }
func (f *Once) Type() string   { return "string" }
func (f *Once) Set(value string) error {
	if *f != "" {
		return New(fmt.Sprintf("two data folders are given, %s and %s, but a run has only one", *f,
			value),
			Shell("mkdir both && cp -r %s %s both/   # one folder for --data", string(*f), value))
	}
	*f = Once(value)
	return nil
}

// Target returns the file that a command writes, with links resolved: the one of --out, or else the
// one that its argument implies. info is nil if there is none yet. name is what a file in a folder
// is called.
func Target(out, implied, name string) (path string, info fs.FileInfo, err error) {
	bad := func(hint Hint, format string, args ...any) (string, fs.FileInfo, error) {
		return "", nil, New(fmt.Sprintf(format, args...), hint)
	}
	path = out
	if out == "" {
		path = implied
		// the user has not named the link, and somebody else may have made it
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return bad(Shell("rm %s   # the link alone", path),
				"%s is a link, and nothing is written through it", ui.Printable(path))
		}
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // else the file would replace the link
	}
	dir := filepath.Dir(path)
	info, err = os.Stat(path)
	switch {
	case os.IsNotExist(err):
		if in, err := os.Stat(dir); err != nil || !in.IsDir() {
			return bad(Shell("mkdir -p %s", dir), "--out: there is no folder %s", ui.Printable(dir))
		}
		return path, nil, nil
	case err != nil:
		return bad(Shell("ls -ld %s", dir), "--out: %v", err)
	case info.IsDir():
		return bad(Again("--out", filepath.Join(path, name)), "--out: %s is a folder", ui.Printable(path))
	case !info.Mode().IsRegular():
		return bad(Again("--out", "-"), "--out: %s is not a file", ui.Printable(path))
	}
	return path, info, nil
}
