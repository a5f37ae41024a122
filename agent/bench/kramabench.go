package bench

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// kramaDomains are the domains, each with a workload and a data lake. Other workloads of a
// checkout (legal-tiny, quick-start-questions) do not belong to the benchmark.
var kramaDomains = []string{"archeology", "astronomy", "biomedical", "environment",
	"legal", "wildfire"}

// openKramaBench reads a checkout of github.com/mitdbg/KramaBench, or one of its workload
// files. A task's data is the whole lake of its domain or, in the oracle setting, the files
// that it names.
func openKramaBench(root string, s Setting) (*Suite, error) {
	suite := &Suite{Secret: []string{root}}
	if isFile(root) {
		root = filepath.Dir(filepath.Dir(root))
	} else {
		suite.Secret = nil
		for _, domain := range kramaDomains {
			suite.Secret = append(suite.Secret, filepath.Join(root, "workload", domain+".json"))
		}
	}
	for _, file := range suite.Secret {
		domain := strings.TrimSuffix(filepath.Base(file), ".json")
		lake := filepath.Join(root, "data", domain, "input")
		err := suite.read(file, func(row taskRow, t *Task) error {
			t.Data, t.Domain = lake, domain
			if !nothing(row.Answer) {
				t.Gold = row.Answer
			}
			if parts := strings.Split(t.ID, "-"); len(parts) > 1 {
				t.Level = parts[1] // archeology-hard-12
			}
			if s.Oracle && present(lake) {
				t.useSources(row.Sources)
			}
			return nil
		})
		if missing, ok := errors.AsType[*MissingError](err); ok {
			suite.Missing = append(suite.Missing, missing.What...)
		} else if err != nil {
			return nil, err
		}
	}
	if len(suite.Missing) == len(suite.Secret) {
		return nil, &MissingError{What: []string{filepath.Join(root, "workload", "*.json")}}
	}
	return suite, nil
}

// useSources restricts the task to the files below Data that sources name. A source is the
// path of a file or folder in the lake, or the end of that path, possibly with wildcards. "./"
// is the whole lake.
func (t *Task) useSources(sources []string) {
	if slices.Equal(sources, []string{"./"}) {
		return
	}
	var names []string
	_ = fs.WalkDir(os.DirFS(t.Data), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return nil
	})
	t.Files = []string{}
	for _, source := range sources {
		found := named(names, strings.ToLower(path.Clean(source)))
		if found == nil {
			t.Missing = append(t.Missing, filepath.Join(t.Data, source))
		}
		t.Files = append(t.Files, found...)
	}
	slices.Sort(t.Files)
	t.Files = slices.Compact(t.Files)
}

// named returns the names of which a part, from the top of the lake, matches pattern, or else those of
// which any part does. Case is ignored, because some workloads misspell it.
func named(names []string, pattern string) []string {
	var found [2][]string
	n := strings.Count(pattern, "/") + 1
	for _, name := range names {
		parts := strings.Split(strings.ToLower(name), "/")
		for i := range len(parts) - n + 1 {
			// a malformed pattern matches nothing
			if ok, _ := path.Match(pattern, strings.Join(parts[i:i+n], "/")); ok {
				found[min(i, 1)] = append(found[min(i, 1)], name)
				break
			}
		}
	}
	if found[0] != nil {
		return found[0]
	}
	return found[1]
}
