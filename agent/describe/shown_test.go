package describe

import (
	"strings"
	"testing"
)

// Names of files are told by folder, all of them if there is room.
func TestListed(t *testing.T) {
	names := []string{"b/c.csv", "a.csv", "s/Ohio.csv", "s/Utah.csv", "s/Iowa.csv"}
	want := "\"data/\": a.csv\n\"data/b/\": c.csv\n\"data/s/\": Iowa.csv, Ohio.csv, Utah.csv\n"
	if got := listed(names, 200); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := listed(names, 90); !strings.Contains(got, "Iowa") || strings.Contains(got, "Ohio") {
		t.Errorf("got %s", got)
	}
}
