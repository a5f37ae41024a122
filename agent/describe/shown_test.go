package describe

import (
	"fmt"
	"testing"
)

// Names of many files are told together by what differs in them, all of them if there is room.
func TestListed(t *testing.T) {
	var numbers []string
	for n := range 30 {
		numbers = append(numbers, fmt.Sprintf("logs/day%02d.csv", n))
	}
	for _, c := range []struct {
		names []string
		most  int
		want  string
	}{
		{[]string{"a.csv", "b/c.csv"}, 100, "\"data/a.csv\"\n\"data/b/c.csv\"\n"},
		{numbers, 100, "\"data/logs/*.csv\": 30 files, * is day00 to day29\n"},
		{[]string{"s/Ohio.csv", "s/Iowa.csv", "s/Oregon.csv", "s/New York.csv", "s/a,b.csv", "s/a*.csv"}, 200,
			"\"data/s/*.csv\": 4 files, * is Iowa, New York, Ohio, Oregon\n\"data/s/a*.csv\"\n\"data/s/a,b.csv\"\n"},
		{[]string{"s/Ohio.csv", "s/Iowa.csv", "s/Oregon.csv", "s/Utah.csv"}, 50, "\"data/s/*.csv\": 4 files, * is Iowa to Utah\n"},
	} {
		if got := listed(c.names, c.most); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
