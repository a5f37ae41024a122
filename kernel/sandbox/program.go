package sandbox

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"dsstar/kernel/pyenv"
	"dsstar/notebook/disk"
)

// A launch is a resolved command: the program, its environment, and the files that it reads.
type launch struct {
	argv  []string
	env   []string
	needs []string
	write []string // where cells write: nothing there is trusted, or run outside the sandbox
}

var (
	pythonName = regexp.MustCompile(`^(python|pypy|graalpy)`)
	// launchers change the environment and then run a program named by a later argument.
	launchers = []string{"env", "conda", "mamba", "micromamba", "pixi", "uv", "poetry", "pipenv",
		"pdm", "hatch"}
)

func isPython(word string) bool {
	return pythonName.MatchString(filepath.Base(word)) && !strings.Contains(word, "=")
}

// launchOf resolves what cmd runs. For a Python launcher, or a script whose #! line names a Python,
// that is the interpreter, in the environment that the launcher creates: the launcher and its files
// stay outside the sandbox. Anything else runs as it is. write are the real paths of the folders
// where cells write; launchOf itself runs nothing in them.
func launchOf(cmd *exec.Cmd, write []string) (found launch, err error) {
	plain := launch{append([]string{cmd.Path}, cmd.Args[1:]...), cmd.Env, []string{cmd.Path}, write}
	starts := 1 // of the words, those among which the Python is
	if slices.Contains(launchers, filepath.Base(cmd.Path)) {
		starts = len(plain.argv)
	} else if line := interpreterOf(cmd.Path); len(line) > 0 && !isPython(cmd.Path) {
		if leadsThrough(cmd.Path, write) {
			return plain, changeable(cmd.Path)
		}
		if plain.needs = append(plain.needs, line[0]); slices.ContainsFunc(line, isPython) {
			plain.argv, starts = append(line, plain.argv...), len(line)
		}
	}
	found = plain
	for i, word := range plain.argv[:starts] { // the first may be the name of an environment
		if isPython(word) {
			if found, err = plain.python(i + 1); err == nil {
				break
			}
		}
	}
	return found, err
}

// interpreterOf returns the words of the #! line of a script; nil if file is none.
func interpreterOf(file string) []string {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	line, _ := bufio.NewReader(io.LimitReader(f, 4096)).ReadString('\n') // the last may have no end
	words, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return nil
	}
	return strings.Fields(words)
}

// python replaces the first n words of l's command by the interpreter that they start.
func (l launch) python(n int) (launch, error) {
	p, err := ask(l.argv[:n], l.env, l.write)
	if err != nil {
		return l, err
	}
	const notText = '\uFFFD' // stands for what is not UTF-8
	asked := unwritable(l.env, l.write)
	env := slices.Clone(l.env)
	for _, name := range slices.Sorted(maps.Keys(p.Env)) { // what the launcher has set
		if value := p.Env[name]; value != disk.Getenv(asked, name) &&
			!strings.ContainsRune(name+value, notText) {
			env = append(env, name+"="+value) // the last entry of a name wins
		}
	}
	if p.UserBase != "" {
		// Python finds it through HOME, which differs in the sandbox
		env = append(env, "PYTHONUSERBASE="+p.UserBase)
	}
	return launch{append([]string{p.Path}, l.argv[n:]...), env,
		slices.Concat(l.needs, p.Paths, []string{p.Path, l.argv[0]}), l.write}, nil
}

// asked caches what Pythons say, each of which takes a process.
var asked sync.Map // a pyenv.Python by the words that start it and its environment

// ask describes the Python that words start. It fails if cells could have changed that Python. Paths
// that cells could have changed are removed from its environment.
func ask(words, env, write []string) (p pyenv.Python, err error) {
	for _, word := range words {
		program := word
		if !strings.Contains(word, "/") {
			if all := pyenv.LookPath(word, env); len(all) > 0 {
				program = all[0]
			}
		}
		if filepath.IsAbs(program) && leadsThrough(program, write) {
			return p, changeable(program)
		}
	}
	env = unwritable(env, write)
	key := strings.Join(slices.Concat(words, []string{""}, env), "\x00")
	if known, ok := asked.Load(key); ok { // perhaps cells wrote to other folders then
		p = known.(pyenv.Python)
	} else {
		p, err = pyenv.Describe(context.Background(), words, env, nil, write)
		if err != nil {
			return p, fmt.Errorf("ask %s where its modules are: %w", strings.Join(words, " "), err)
		}
		if p.Writable != "" {
			return p, changeable(p.Writable)
		}
		p.Paths = slices.DeleteFunc(p.Paths,
			func(path string) bool { return !filepath.IsAbs(path) || exposes(path) != "" })
		asked.Store(key, p)
	}
	if at := slices.IndexFunc(p.Paths,
		func(path string) bool { return leadsThrough(path, write) }); at >= 0 {
		return p, changeable(p.Paths[at])
	}
	return p, nil
}

// changeable returns the error about a program that would run outside the sandbox although cells could
// have changed it.
func changeable(path string) error {
	return fmt.Errorf("%w: %s is in a folder all of which they may write, and the Python that it "+
		"belongs to would be started outside the sandbox", ErrWritable, path)
}

// unwritable returns env without paths, alone or in lists, that lead through a folder where cells
// write.
func unwritable(env, write []string) (all []string) {
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		paths := filepath.SplitList(value)
		safe := slices.DeleteFunc(slices.Clone(paths),
			func(path string) bool { return filepath.IsAbs(path) && leadsThrough(path, write) })
		switch {
		case len(safe) == len(paths):
			all = append(all, entry)
		case len(safe) > 0:
			all = append(all, name+"="+strings.Join(safe, string(filepath.ListSeparator)))
		}
	}
	return all
}
