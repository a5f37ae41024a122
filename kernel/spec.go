package kernel

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dsstar/notebook/disk"
)

// A Spec says how to start a kernel: the content of a kernel.json
// (jupyter_client, docs/kernels.rst, "Kernel specs") and where it was found.
type Spec struct {
	Name        string   `json:"-"`            // the name of its folder
	Dir         string   `json:"-"`            // its folder, {resource_dir} in Argv; "" if it has none
	DisplayName string   `json:"display_name"` // for people
	Language    string   `json:"language"`     // of the cells
	Argv        []string `json:"argv"`         // with {connection_file}
	// ${NAME} in values is replaced from the environment
	Env map[string]string `json:"env"`
	// "signal" (also "") or "message"
	InterruptMode string         `json:"interrupt_mode"`
	Metadata      map[string]any `json:"metadata"`
}

// PythonSpec returns a Spec that starts the ipykernel of the given Python interpreter, without
// writing cells to IPython's history file.
func PythonSpec(python string) Spec {
	return Spec{
		Name: "python3", DisplayName: "Python 3", Language: "python",
		Argv: []string{python, "-m", "ipykernel_launcher", "-f", "{connection_file}",
			"--HistoryManager.enabled=False"},
	}
}

// Python returns the part of Argv that starts the Python interpreter, if s starts an ipykernel as
// python -m ipykernel_launcher, ipykernel or a module in it, or undokernel; nil if it does not.
func (s Spec) Python() []string {
	for i, arg := range s.Argv {
		module, _, _ := strings.Cut(arg, ".")
		if i > 1 && s.Argv[i-1] == "-m" &&
			slices.Contains([]string{"ipykernel", "ipykernel_launcher", undokernel}, module) {
			return s.Argv[:i-1]
		}
	}
	return nil
}

// IPython reports whether s starts an ipykernel: as [Spec.Python] says, or by a program of that
// name.
func (s Spec) IPython() bool {
	return s.Python() != nil || len(s.Argv) > 0 &&
		strings.HasPrefix(filepath.Base(s.Argv[0]), "ipykernel")
}

// A SpecNotFoundError names a missing kernelspec, the available ones, and the folders or the server
// that were searched.
type SpecNotFoundError struct {
	Name      string
	Available []string
	Searched  []string
}

func (e *SpecNotFoundError) Error() string {
	if len(e.Available) == 0 {
		return fmt.Sprintf("no kernelspec %q: there are none in %s", e.Name,
			strings.Join(e.Searched, ", "))
	}
	return fmt.Sprintf("no kernelspec %q: there are %s", e.Name, strings.Join(e.Available, ", "))
}

// Specs returns the kernelspecs that l finds, sorted by name. If a name occurs more than once, the
// first folder wins. The error joins those of unreadable kernel.json files; the other kernelspecs
// are returned with it.
func Specs(l Lookup) ([]Spec, error) {
	var specs []Spec
	var bad []error
	seen := map[string]bool{}
	for _, dir := range l.Dirs() {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // most of the folders do not exist
		}
		for _, entry := range entries {
			name := strings.ToLower(entry.Name()) // as Jupyter does
			s, err := readSpec(name, filepath.Join(dir, entry.Name()))
			switch {
			case seen[name] || errors.Is(err, os.ErrNotExist):
				continue
			case err != nil:
				bad = append(bad, err)
				continue
			}
			seen[name] = true
			specs = append(specs, s)
		}
	}
	sortSpecs(specs)
	return specs, errors.Join(bad...)
}

// FindSpec returns the kernelspec of the given name, ignoring case. If there is none, the error is
// a [*SpecNotFoundError], joined with those of unreadable kernelspecs.
func FindSpec(name string, l Lookup) (Spec, error) {
	specs, bad := Specs(l)
	missing := &SpecNotFoundError{Name: name, Searched: l.Dirs()}
	for _, s := range specs {
		if strings.EqualFold(s.Name, name) {
			return s, nil
		}
		missing.Available = append(missing.Available, s.Name)
	}
	return Spec{}, errors.Join(missing, bad)
}

// readSpec reads the kernel.json in dir.
func readSpec(name, dir string) (Spec, error) {
	path := filepath.Join(dir, "kernel.json")
	b, err := disk.ReadFile(path, disk.MaxText)
	if err != nil {
		if info, e := os.Stat(dir); e == nil && !info.IsDir() {
			err = os.ErrNotExist // a stray file among the folders
		}
		return Spec{}, err
	}
	s := Spec{Name: name, Dir: dir}
	if err := json.Unmarshal(b, &s); err != nil {
		return Spec{}, fmt.Errorf("kernelspec %s: %w", path, err)
	}
	return s, nil
}

func sortSpecs(specs []Spec) {
	slices.SortFunc(specs, func(a, b Spec) int { return strings.Compare(a.Name, b.Name) })
}

// check returns why a kernel cannot be started from s; nil if it can.
func (s Spec) check() error {
	if len(s.Argv) == 0 || s.Argv[0] == "" {
		return errors.New("the kernelspec has no argv")
	}
	p, _ := s.Metadata["kernel_provisioner"].(map[string]any)
	if name := p["provisioner_name"]; name != nil && name != "local-provisioner" {
		return fmt.Errorf("the kernelspec requires the kernel provisioner %v, which runs only inside "+
			"Jupyter: start the kernel with a Jupyter server or gateway instead", name)
	}
	if s.InterruptMode != "" && s.InterruptMode != "signal" && s.InterruptMode != "message" {
		return fmt.Errorf("the kernelspec has the unknown interrupt_mode %q", s.InterruptMode)
	}
	return nil
}
