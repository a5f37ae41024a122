package agent_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dsstar/agent/describe/profile"
	"dsstar/agent/record"
)

// withData gives a run a data folder with real files, by name.
func withData(t testing.TB, content map[string]string) func(*stage) {
	t.Helper()
	data := t.TempDir()
	var list []record.File
	for _, name := range slices.Sorted(maps.Keys(content)) {
		path := filepath.Join(data, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content[name]), 0o644); err != nil {
			t.Fatal(err)
		}
		list = append(list, record.File{Name: name, Size: int64(len(content[name]))})
	}
	return func(s *stage) { s.task.Data, s.task.Files = data, list }
}

// tables are files of one structure, too long to be their own descriptions.
func tables(names ...string) map[string]string {
	all := map[string]string{}
	for _, name := range names {
		line := "2024-05-01," + strings.TrimSuffix(filepath.Base(name), ".csv") + ",17\n"
		all[name] = "day,shop,amount\n" + strings.Repeat(line, 150)
	}
	return all
}

// described returns the description of a file.
func (p *played) described(t reporter, name string) record.Description {
	t.Helper()
	for _, d := range p.Descriptions {
		if d.File == name {
			return d
		}
	}
	t.Fatalf("%s is not described", name)
	return record.Description{}
}

// What a person says of a file stands above what the program says.
func TestCorrections(t *testing.T) {
	p := play(t, simple, withData(t, tables("a.csv", "b.csv")),
		profiled(map[string]profile.Profile{"b.csv": table(2, "town")}), func(s *stage) {
			s.config.Corrections = map[string]string{"b.csv": "By hand.", "gone.csv": "?"}
		}).noError(t)
	d := p.described(t, "b.csv")
	said, found := strings.Index(d.Text, "By hand."), strings.Index(d.Text, "town")
	if !d.Corrected || d.Whole || said < 0 || found < said {
		t.Errorf("%+v", d)
	}
	contains(t, p.model.prompt(t, "solver round 1"), "By hand.", "town")
}

// Of more files than a run looks at some are chosen by their names; the others are named, or else
// counted by folder.
func TestMaxFiles(t *testing.T) {
	content := map[string]string{"many/how.csv": "a,b\n1,2\n2,3\n"}
	for i := range 20 {
		content[fmt.Sprintf("log/%02d.csv", i)] = content["many/how.csv"]
	}
	for room, leftOut := range map[int]string{6000: ", 18.csv, 19.csv\n", 500: "cut here"} {
		p := play(t, simple, withData(t, content), func(s *stage) {
			s.config.MaxFiles, s.config.DescriptionChars = 5, room
		}).noError(t)
		var names []string
		for _, f := range p.Task.Files {
			names = append(names, f.Name)
		}
		if len(names) != 5 || len(p.Descriptions) != 5 || p.Task.Others != 16 ||
			names[0] != "log/00.csv" || names[4] != "many/how.csv" {
			t.Errorf("chosen are %q, %d descriptions, %d others", names, len(p.Descriptions), p.Task.Others)
		}
		contains(t, p.model.prompt(t, "solver round 1"), "## More files", leftOut)
	}
}
