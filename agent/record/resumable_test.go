package record

import (
	"strings"
	"testing"
)

func TestDataChanges(t *testing.T) {
	described := &Trajectory{Task: Task{Files: []File{{Name: "a.csv", Size: 10},
		{Name: "b.csv", Size: 20}}, Others: 1}}
	other := File{Name: "other", Size: 1}
	for what, now := range map[string][]File{
		"":                   {{Name: "a.csv", Size: 10}, {Name: "b.csv", Size: 20}, other},
		"a.csv has 11 bytes": {{Name: "a.csv", Size: 11}, {Name: "b.csv", Size: 20}, other},
		"b.csv is not there": {{Name: "a.csv", Size: 10}, other, other},
		"there are 2 files":  {{Name: "a.csv", Size: 10}, {Name: "b.csv", Size: 20}},
	} {
		if got := described.DataChanges(now); !strings.Contains(got, what) || what == "" && got != "" {
			t.Errorf("%q instead of %q", got, what)
		}
	}
}
