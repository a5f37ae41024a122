// Package usage has errors that end in commands to paste, and renders these commands.
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
	"dsstar/notebook/lists"
)

// An Error is a command line that cannot be executed.
type Error struct {
	Text  string
	Hints []Hint
}

func (e *Error) Error() string { return e.Text }

// New returns an Error.
func New(text string, hints ...Hint) *Error { return &Error{text, hints} }

// A Stopped is the error of work that can be continued.
type Stopped struct {
	Err   error
	Text  string // of what there is so far; "": nothing is said
	Line  Line   // the command line that continues it; without a command, flags to add to that typed
	Hints []Hint // how to, before those for Err
}

func (e *Stopped) Error() string { return strings.TrimSpace(e.Err.Error() + "\n" + e.Text) }
func (e *Stopped) Unwrap() error { return e.Err }

// A Hint is a command to paste.
type Hint struct {
	shell   string   // a shell command; "": the command line that failed, changed
	flags   []string // words to add to it
	args    []string // arguments in place of its own; nil: its own
	without []string // names of flags to leave out
	fresh   bool     // --kernel names a new kernel, without variables to ask about
	old     string   // a word, which is replaced by new; "": none
	new     string
	note    string
	spares  func(value string) bool // which of the flags to leave out stay; nil: none
}

// Shell returns a shell command, perhaps with a comment. Each %s stands for a word, which is quoted
// if necessary.
func Shell(command string, words ...string) Hint {
	for _, word := range words {
		command = strings.Replace(command, "%s", strings.ReplaceAll(human.Shell(word), "%s", "%\x00s"), 1)
	}
	return Hint{shell: strings.ReplaceAll(command, "%\x00s", "%s")}
}

// Again returns the command line that failed with other flags, given as names and values. They
// replace flags of the same name.
func Again(flags ...string) Hint {
	h := Hint{flags: flags}
	for _, word := range flags {
		if name, ok := strings.CutPrefix(word, "--"); ok {
			h.without = append(h.without, name)
		}
	}
	return h
}

// Without returns the command line that failed without some flags.
func Without(names ...string) Hint { return Hint{without: names} }

// Instead returns the command line that failed with another word, or value of a flag, for one of its.
func Instead(old, new string) Hint { return Hint{old: old, new: new} }

// But leaves out more flags.
func (h Hint) But(names ...string) Hint {
	h.without = slices.Concat(h.without, names)
	return h
}

// Sparing keeps those of the flags to leave out whose value is one of these.
func (h Hint) Sparing(these func(value string) bool) Hint {
	h.spares = these
	return h
}

// Fresh says that --kernel names a new kernel, which is no data to ask about.
func (h Hint) Fresh() Hint {
	h.fresh = true
	return h
}

// Args replaces the arguments and the input.
func (h Hint) Args(args ...string) Hint {
	h.args = args
	return h
}

// Note adds a comment.
func (h Hint) Note(text string) Hint {
	h.note = text
	return h
}

// On renders the hint for the command line that failed.
func (h Hint) On(line Line) string {
	var text string
	switch {
	case h.old != "":
		text = strings.Join(append([]string{"dsstar"}, h.instead(line)...), " ")
	case h.shell != "":
		text = line.other(h.shell, h.without)
	default:
		text = h.again(line)
	}
	if h.note != "" {
		text += "   # " + h.note
	}
	return text
}

// again is the command line that failed, changed.
func (h Hint) again(line Line) string {
	words, flags := []string{line.Command}, h.flags
	if h.args != nil {
		line.Args, line.Input = h.args, ""
	}
	if line.Folder && len(flags) == 2 && flags[0] == "--data" {
		line.Args, flags = slices.Concat(flags[1:], line.Args[min(1, len(line.Args)):]), nil
	}
	for _, word := range flags {
		if below, ok := strings.CutPrefix(word, "~/"); ok { // the shell's, not a folder of this name
			words = append(words, "~/"+human.Shell(below))
			continue
		}
		words = append(words, human.Shell(word))
	}
	for _, f := range line.Flags {
		if !slices.Contains(h.without, f.Name) || h.spares != nil && h.spares(f.Value) {
			words = append(words, f.String())
		}
	}
	if h.fresh && line.Command == "dsstar nb" && !slices.ContainsFunc([]string{"data", "engine"},
		func(name string) bool { return has(words, name) }) {
		words = append(words, "--data", ".")
	}
	words = append(words, lists.Map(line.Args, human.Shell)...)
	return strings.Join(words, " ") + line.Input
}

// instead returns the words of the command line with the other one, quoted.
func (h Hint) instead(line Line) (words []string) {
	for _, word := range line.Typed {
		before, value, _ := strings.Cut(word, "=")
		switch {
		case word == h.old:
			word = h.new
		case before == h.old:
			word = h.new + "=" + value
		case value == h.old:
			word = before + "=" + h.new
		}
		words = append(words, human.Shell(word))
	}
	return words
}

// other is a shell command, with the flags that mean the same to it if it is one of ours, but those
// without. DATA in it stands for the data of the line.
func (l Line) other(text string, without []string) string {
	command, note, _ := strings.Cut(text, "   #")
	if l.Takes == nil || !strings.HasPrefix(command, "dsstar ") || strings.Contains(command, " --help") {
		return text
	}
	if before, is := strings.CutSuffix(command, " DATA"); is {
		command = before + l.data()
	}
	words := []string{command}
	for _, f := range l.Flags {
		if f.Alike && l.Takes(command, f.Name) && !has(words[:1], f.Name) && !slices.Contains(without, f.Name) {
			words = append(words, f.String())
		}
	}
	if note != "" {
		words = append(words, "  #"+note)
	}
	return strings.Join(words, " ")
}

// data are the arguments of dsstar describe for the data of the line.
func (l Line) data() (words string) {
	data := l.Args
	if !l.Folder {
		data = lists.Map(l.Only("data"), func(f Flag) string { return f.Value })
	}
	if len(data) == 0 {
		data = []string{"."}
		if l.Command != "dsstar nb" { // it is the run's
			return " DATA"
		}
	}
	for _, word := range data {
		words += " " + human.Shell(word)
	}
	return words
}

// Fits reports whether the line has the word that the hint replaces, and its command the flags that the
// hint adds.
func (h Hint) Fits(line Line) bool {
	if h.old != "" {
		return !slices.Equal(h.instead(line), Hint{}.instead(line))
	}
	return line.Takes == nil || !slices.ContainsFunc(h.flags, func(word string) bool {
		name, isFlag := strings.CutPrefix(word, "--")
		return isFlag && !line.Takes(line.Command, name) && !(line.Folder && name == "data")
	})
}

// has reports whether there is a flag in parts of a command line.
func has(parts []string, flag string) bool {
	return slices.ContainsFunc(parts, func(part string) bool {
		return strings.Contains(" "+part+" ", " --"+flag+" ")
	})
}

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
		flags = append(flags, lists.Where(l.Flags, func(f Flag) bool { return f.Name == name })...)
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
