package describe

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dsstar/agent/record"
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
		{numbers, 100, "\"data/logs/day*.csv\": 30 files, * is 00 to 29\n"},
		{slices.Delete(slices.Clone(numbers), 3, 5), 100, "\"data/logs/day*.csv\": 28 files, * is 00 to 02, 05 to 29\n"},
		{[]string{"by_state/rain_Ohio.csv", "by_state/rain_Iowa.csv", "by_state/rain_Oregon.csv", "by_state/rain_New York.csv"}, 200,
			"\"data/by_state/rain_*.csv\": 4 files, * is Iowa, New York, Ohio, Oregon\n"},
		{[]string{"a/Ohio.csv", "a/Iowa.csv", "a/Oregon.csv", "a/Utah.csv", "b/Ohio.csv", "b/Iowa.csv", "b/Oregon.csv", "b/Utah.csv"}, 90,
			"\"data/a/*.csv\", \"data/b/*.csv\": each 4 files, * is Iowa, Ohio, Oregon, Utah\n"},
		{[]string{"s/Ohio.csv", "s/Iowa.csv", "s/Oregon.csv", "s/Utah.csv"}, 50, "\"data/s/*.csv\": 4 files, * is Iowa to Utah\n"},
	} {
		if got := listed(c.names, c.most); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// A question names members of a family by a word, a place, a number or a span of years.
func TestMentioned(t *testing.T) {
	names := []string{"water-2018.csv", "water-2019.csv", "water-2020.csv", "rain/NewYork.csv", "rain/Ohio.csv", "rain/NewJersey.csv"}
	for _, c := range []struct{ question, want string }{
		{"How much rain fell in New York?", "rain/NewYork.csv"},
		{"How clean was the water from 2019 to 2020?", "water-2019.csv water-2020.csv"},
		{"the cleanest beach since 2020", "water-2020.csv"},
		{"the cleanest beach in 2018, and Ohio's rain", "water-2018.csv rain/Ohio.csv"},
		{"the cleanest beach of New England", ""},
	} {
		r := &Describer{t: &record.Trajectory{}}
		r.t.Task.Question = c.question
		for n, name := range names {
			r.t.Task.Files = append(r.t.Task.Files, record.File{Name: name})
			r.of(n).lead = name[:4]
		}
		var got []string
		for i, named := range r.mentioned() {
			if named {
				got = append(got, fmt.Sprintf("%d", i))
			}
		}
		slices.Sort(got)
		for n, i := range got {
			got[n] = names[i[0]-'0']
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q", c.question, got)
		}
	}
}
