// Package usage has errors that end in commands to paste, and renders these commands.
package usage

import (
	"slices"
	"strings"

	"dsstar/notebook/human"
)

// An Error is a command line that cannot be executed.
type Error struct {
	Text  string
	Hints []Hint
}

func (e *Error) Error() string { return e.Text }

// New returns an Error.
func New(text string, hints ...Hint) *Error { return &Error{text, hints} }

// A Hint is a command to paste.
type Hint struct {
	shell   string   // a shell command; "": the command line that failed, changed
	flags   []string // words to add to it
	without []string // names of flags to leave out
	note    string
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

// But leaves out more flags.
func (h Hint) But(names ...string) Hint {
	h.without = slices.Concat(h.without, names)
	return h
}

// Note adds a comment.
func (h Hint) Note(text string) Hint {
	h.note = text
	return h
}

// On renders the hint for the command line that failed.
func (h Hint) On(line Line) string {
	text := h.shell
	if text == "" {
		words, flags := []string{line.Command}, h.flags
		if line.Folder && len(flags) == 2 && flags[0] == "--data" {
			line.Args, flags = slices.Concat(flags[1:], line.Args[min(1, len(line.Args)):]), nil
		}
		for _, word := range flags {
			words = append(words, human.Shell(word))
		}
		for _, f := range line.Flags {
			if !slices.Contains(h.without, f.Name) {
				words = append(words, f.String())
			}
		}
		for _, arg := range line.Args {
			words = append(words, human.Shell(arg))
		}
		text = strings.Join(words, " ") + line.Input
	}
	if h.note != "" {
		text += "   # " + h.note
	}
	return text
}
