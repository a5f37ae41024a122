package sandbox

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"dsstar/notebook/disk"
)

// A launch is a resolved command: the program, its environment, and the files that it reads.
type launch struct {
	argv  []string
	env   []string
	needs []string
	write []string // where cells write: nothing there is trusted, or run outside the sandbox
}

// A python is what an interpreter reports about itself.
type python struct {
	Executable string // the interpreter itself, even if a script, shim or launcher was called
	// its installation, its module folders, and the libraries that it has loaded
	Paths    []string
	Env      map[string]string // the environment that its launcher gives it
	UserBase string            // of the packages installed for this user; "" if there are none
}

var (
	pythonName = regexp.MustCompile(`^(python|pypy|graalpy)`)
	shellName  = regexp.MustCompile(`^(a|ba|da|k|mk|z)?sh$`)
	// launchers change the environment and then run a program named by a later argument.
	launchers = []string{"env", "conda", "mamba", "micromamba", "pixi", "uv", "poetry", "pipenv",
		"pdm", "hatch"}
)

func isPython(word string) bool {
	return pythonName.MatchString(filepath.Base(word)) && !strings.Contains(word, "=")
}

// launchOf resolves what cmd runs. For a Python launcher that is the interpreter, in the
// environment that the launcher creates: the launcher and its files stay outside the sandbox. For a
// script it is the program of the #! line. Anything else runs as it is. write are the real paths of
// the folders where cells write; launchOf itself runs nothing in them.
func launchOf(cmd *exec.Cmd, write []string) (launch, error) {
	plain := launch{append([]string{cmd.Path}, cmd.Args[1:]...), cmd.Env, []string{cmd.Path}, write}
	if isPython(cmd.Path) {
		return plain.python(1)
	}
	if slices.Contains(launchers, filepath.Base(cmd.Path)) {
		return plain.launched()
	}
	line, text := script(cmd.Path)
	if len(line) == 0 {
		return plain, nil
	}
	if leadsThrough(cmd.Path, write) {
		return plain, &writableError{cmd.Path}
	}
	interpreted := plain
	interpreted.argv = append(append(slices.Clone(line), cmd.Path), cmd.Args[1:]...)
	switch at := slices.IndexFunc(line, isPython); {
	case at >= 0:
		l, err := interpreted.python(at + 1)
		l.needs = append(l.needs, cmd.Path)
		return l, err
	case shellName.MatchString(filepath.Base(line[0])) || len(line) > 1 &&
		shellName.MatchString(filepath.Base(line[len(line)-1])):
		plain.namedIn(text)
	}
	plain.needs = append(plain.needs, line[0])
	return plain, nil
}

// launched removes the launcher from l. It tries all words that look like a Python, as the first
// may be the name of an environment.
func (l launch) launched() (found launch, err error) {
	found = l
	for i, word := range l.argv {
		if i == 0 || !isPython(word) {
			continue
		}
		if found, err = l.python(i + 1); err == nil {
			return found, nil
		}
	}
	return found, err
}

// python replaces the first n words of l's command by the interpreter that they start.
func (l launch) python(n int) (launch, error) {
	p, err := ask(l.argv[:n], l.env, l.write)
	if err != nil {
		return l, err
	}
	env := make([]string, 0, len(p.Env)+1)
	for name, value := range p.Env {
		if !strings.ContainsRune(name+value, '\uFFFD') { // not UTF-8
			env = append(env, name+"="+value)
		}
	}
	for _, entry := range l.env {
		if name, value, _ := strings.Cut(entry, "="); strings.ContainsRune(p.Env[name], '\uFFFD') {
			env = append(env, name+"="+value)
		}
	}
	slices.Sort(env)
	asked := unwritable(l.env, l.write)
	// hidden from the interpreter when it was asked, and not set by its launcher
	for _, entry := range l.env {
		if name, value, _ := strings.Cut(entry, "="); valueOf(asked, name) != value &&
			valueOf(asked, name) == p.Env[name] {
			env = append(env, entry)
		}
	}
	if p.UserBase != "" {
		// Python finds it through HOME, which differs in the sandbox
		env = append(env, "PYTHONUSERBASE="+p.UserBase)
	}
	return launch{append([]string{p.Executable}, l.argv[n:]...), env,
		append(p.Paths, p.Executable, l.argv[0]), l.write}, nil
}

// namedIn adds the files of the Pythons that the text of a shell script names, as far as it finds
// them. It extends PATH so that those looked up there are found without shims in between.
func (l *launch) namedIn(text string) {
	lookup := func(name string) string { return valueOf(l.env, name) }
	words := strings.FieldsFunc(text,
		func(r rune) bool { return strings.ContainsRune(" \t\n\"'`;|&()", r) })
	for i := range words {
		words[i] = os.Expand(words[i], lookup)
	}
	words = slices.DeleteFunc(words, func(word string) bool { return !isPython(word) })
	slices.Sort(words)
	for _, word := range slices.Compact(words) {
		program := word
		if !strings.Contains(word, "/") {
			program = firstOf(disk.LookPath(program, valueOf(l.env, "PATH")))
		}
		if !filepath.IsAbs(program) {
			continue
		}
		p, err := ask([]string{program}, l.env, l.write)
		if err != nil {
			continue // perhaps a word in a comment
		}
		l.needs = append(l.needs, append(p.Paths, p.Executable, program)...)
		if !strings.Contains(word, "/") {
			l.env = append(slices.Clone(l.env), "PATH="+filepath.Dir(p.Executable)+":"+
				valueOf(l.env, "PATH"))
		}
	}
}

// firstOf returns the first of all, "" if there is none.
func firstOf(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return all[0]
}

// valueOf returns the value of a variable; the last entry counts.
func valueOf(env []string, name string) (value string) {
	for _, entry := range env {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v
		}
	}
	return value
}

// scriptSize bounds how much of a script is read.
const scriptSize = 64 << 10

// script returns the words of the #! line of a script, and its text; nothing if file is not a
// script.
func script(file string) (line []string, text string) {
	f, err := os.Open(file)
	if err != nil {
		return nil, ""
	}
	defer f.Close()
	content, _ := io.ReadAll(io.LimitReader(f, scriptSize)) // as much as can be read
	if !bytes.HasPrefix(content, []byte("#!")) {
		return nil, ""
	}
	first, _, _ := strings.Cut(string(content[2:]), "\n")
	return strings.Fields(first), string(content)
}
