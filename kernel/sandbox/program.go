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
)

// A launch is what a command comes to: what is run, with which environment, and what that reads.
type launch struct {
	argv  []string
	env   []string
	needs []string
	write []string // where cells write: nothing from there is started outside of the sandbox, nor listened to
}

// A python is what an interpreter says of itself.
type python struct {
	Executable string            // itself, where what was called is a script, a shim or a launcher
	Paths      []string          // its installation, where it looks for modules, and what it has loaded
	Env        map[string]string // as whatever has started it leaves it
	UserBase   string            // of the packages that were installed for the user alone; "" if it has none
}

var (
	pythonName = regexp.MustCompile(`^(python|pypy|graalpy)`)
	shellName  = regexp.MustCompile(`^(a|ba|da|k|mk|z)?sh$`)
	// launchers start what a later argument names, after they have changed the environment.
	launchers = []string{"env", "conda", "mamba", "micromamba", "pixi", "uv", "poetry", "pipenv", "pdm", "hatch"}
)

func isPython(word string) bool {
	return pythonName.MatchString(filepath.Base(word)) && !strings.Contains(word, "=")
}

// launchOf finds out what cmd starts. Of a Python that is the interpreter itself, in the environment that its launcher
// makes: the launcher and what it reads stay outside. Of a script it is what its first line names. Anything else is run
// as it is. write are real paths, where cells write; what is asked must not be in there.
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
	case shellName.MatchString(filepath.Base(line[0])) || len(line) > 1 && shellName.MatchString(filepath.Base(line[len(line)-1])):
		plain.namedIn(text)
	}
	plain.needs = append(plain.needs, line[0])
	return plain, nil
}

// launched is l without its launcher. The first word that names a Python may be the name of an environment.
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

// python is l with the Python that the first n words of its command start in their place.
func (l launch) python(n int) (launch, error) {
	p, err := ask(l.argv[:n], l.env, l.write)
	if err != nil {
		return l, err
	}
	env := make([]string, 0, len(p.Env)+1)
	for name, value := range p.Env {
		if !strings.ContainsRune(name+value, '\uFFFD') { // it is no UTF-8
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
	for _, entry := range l.env { // what was kept from the question, and its launcher has not set
		if name, value, _ := strings.Cut(entry, "="); valueOf(asked, name) != value && valueOf(asked, name) == p.Env[name] {
			env = append(env, entry)
		}
	}
	if p.UserBase != "" {
		env = append(env, "PYTHONUSERBASE="+p.UserBase) // found by HOME, which will be another
	}
	return launch{append([]string{p.Executable}, l.argv[n:]...), env, append(p.Paths, p.Executable, l.argv[0]), l.write}, nil
}

// namedIn adds what the Pythons need that the text of a shell script names, as far as that can be told. Those it looks
// for in PATH are made to be found there without the shims in between.
func (l *launch) namedIn(text string) {
	lookup := func(name string) string { return valueOf(l.env, name) }
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`;|&()", r) })
	for i := range words {
		words[i] = os.Expand(words[i], lookup)
	}
	words = slices.DeleteFunc(words, func(word string) bool { return !isPython(word) })
	slices.Sort(words)
	for _, word := range slices.Compact(words) {
		program := word
		if !strings.Contains(word, "/") {
			program = inPath(program, valueOf(l.env, "PATH"))
		}
		if !filepath.IsAbs(program) {
			continue
		}
		p, err := ask([]string{program}, l.env, l.write)
		if err != nil {
			continue // it may be a word in a comment
		}
		l.needs = append(l.needs, append(p.Paths, p.Executable, program)...)
		if !strings.Contains(word, "/") {
			l.env = append(slices.Clone(l.env), "PATH="+filepath.Dir(p.Executable)+":"+valueOf(l.env, "PATH"))
		}
	}
}

// valueOf returns the value of a variable, of which the last counts.
func valueOf(env []string, name string) (value string) {
	for _, entry := range env {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v
		}
	}
	return value
}

func inPath(name, list string) string {
	for _, dir := range filepath.SplitList(list) {
		if info, err := os.Stat(filepath.Join(dir, name)); filepath.IsAbs(dir) && err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return filepath.Join(dir, name)
		}
	}
	return ""
}

// scriptSize is how much of a script is looked at.
const scriptSize = 64 << 10

// script returns the words of the first line of a script, as Linux starts it, and its text; none if it is no script.
func script(file string) (line []string, text string) {
	f, err := os.Open(file)
	if err != nil {
		return nil, ""
	}
	defer f.Close()
	content, _ := io.ReadAll(io.LimitReader(f, scriptSize)) // what can be read
	if !bytes.HasPrefix(content, []byte("#!")) {
		return nil, ""
	}
	first, _, _ := strings.Cut(string(content[2:]), "\n")
	return strings.Fields(first), string(content)
}
