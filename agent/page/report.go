package page

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/notebook"
	"dsstar/notebook/lazy"
)

// A part is a question with what came of it, as the templates see it. Cells about the whole run are
// drawn of the last one.
type part struct {
	*record.Trajectory                    // as it was when the part ended
	all                *record.Trajectory // the whole
	k                  int                // from 0
}

// First reports whether the part is the first.
func (p part) First() bool { return p.k == 0 }

// Number returns the number of the part, from 1.
func (p part) Number() int { return p.k + 1 }

// Followed returns, of the first part, those after it.
func (p part) Followed() (later []*record.Trajectory) {
	for k := 1; p.First() && k < len(p.all.Questions); k++ {
		later = append(later, p.all.Part(k))
	}
	return later
}

// A worth is what an answer is worth, and why.
type worth struct{ Mark, Standing, Why string }

// Worth says what the answer is worth.
func (p part) Worth() worth {
	w := worth{Mark: "⚠"}
	switch {
	case p.Verified():
		w.Mark = "✔"
	case p.Failure != "":
		w.Mark = "✘"
	case !p.Ended:
		w.Mark = "…"
	}
	w.Standing, w.Why, _ = strings.Cut(p.InWords(), ": ")
	return w
}

// Assumed returns the readings that evidence or a person has settled.
func (p part) Assumed() []record.Reading {
	return slices.DeleteFunc(slices.Clone(p.Readings), func(r record.Reading) bool {
		return r.Chosen < 0 || r.Chosen >= len(r.Options) || !r.ByUser && (!r.Settled || r.Evidence == "")
	})
}

// Branched returns the readings of which a branch was computed.
func (p part) Branched() []record.Reading {
	return slices.DeleteFunc(slices.Clone(p.Readings), func(r record.Reading) bool {
		return !slices.ContainsFunc(r.Options, func(o record.Option) bool { return len(o.Attempts) > 0 })
	})
}

// maxAttached is the size of the largest chart that the report repeats, in base64.
const maxAttached = 200 << 10

var pictureName = lazy.Regexp(`\b[\w-]{1,80}\.(?:png|jpe?g|svg|gif|webp)\b`)

// A chart is the main chart of an answer: in a cell below, attached, or a file of the folder.
type chart struct {
	Below, Attached, File string
	attachments           map[string]notebook.MIMEBundle
}

// Chart returns the last chart of the last cell or, without one, of the last step, or else the one
// that the answer names; nil if there is none.
func (p part) Chart() *chart {
	for _, shown := range p.LastCells() {
		for _, o := range slices.Backward(shown.Outputs) {
			for _, kind := range []string{"png", "jpeg", "svg+xml"} {
				mime := "image/" + kind
				data, _ := o.Data[mime].(string)
				switch {
				case data == "":
					continue
				case len(data) > maxAttached:
					return &chart{Below: shown.Where}
				}
				name := "chart." + strings.TrimSuffix(kind, "+xml")
				return &chart{Attached: name,
					attachments: map[string]notebook.MIMEBundle{name: {mime: data}}}
			}
		}
	}
	for _, name := range pictureName().FindAllString(p.Answer()+"\n"+p.Summary(), -1) {
		if strings.Contains(strings.Join(p.Cells(), "\n"), name) {
			return &chart{File: name}
		}
	}
	return nil
}

// Limits of what the report repeats of the last step's output.
const figureLines, figureChars = 16, 1600

// Figures are what the last step ends with.
type figures struct{ Title, Where, Text string }

// Figures returns the table at the end of the last step, or what it printed, if that is short.
func (p part) Figures() *figures {
	cells := p.LastCells()
	if len(cells) == 0 || cells[len(cells)-1].Where == "Answer" {
		return nil // the answer stands above
	}
	last := cells[len(cells)-1]
	f := &figures{Title: "Key figures", Where: last.Where}
	for _, o := range last.Outputs {
		switch plain, _ := o.Data["text/plain"].(string); {
		case o.Type == notebook.Stream && o.Name == "stdout":
			f.Text += o.Text
		case o.Data["text/html"] != nil && plain != "" && !strings.HasPrefix(plain, "<"):
			f.Title, f.Text = "Main table", plain // a table says it best
		}
	}
	f.Text = strings.Trim(notebook.Overstrike(f.Text), "\n")
	if strings.TrimSpace(f.Text) == "" || f.Text == p.Answer() || len(f.Text) > figureChars ||
		strings.Count(f.Text, "\n") >= figureLines {
		return nil
	}
	return f
}

// Carried returns the variables of somebody's session that cells use or that are described.
func (p part) Carried() []record.Variable {
	return slices.DeleteFunc(slices.Clone(p.Variables), func(v record.Variable) bool {
		return v.Text == "" && v.Problem == ""
	})
}

// Named returns the functions and classes of that session that no statement imports.
func (p part) Named() []record.Variable {
	return slices.DeleteFunc(slices.Clone(p.Variables), func(v record.Variable) bool {
		return v.Text != "" || v.Problem != "" || v.Import != ""
	})
}

// A sum is how often the session went back.
type sum struct {
	Times   int
	Seconds float64
	Ways    []string // by which methods, and why not by a better one
}

// Returned sums up how often the session went back; nil if it did not.
func (p part) Returned() *sum {
	s, times, whys := sum{}, map[notebook.Way]int{}, map[notebook.Way][]string{}
	_, returns := p.Tried()
	for _, b := range returns {
		if b.Way == notebook.NotAtAll {
			continue // a warning says so
		}
		times[b.Way]++
		s.Times++
		s.Seconds += b.Seconds
		if why := brief.OneLine(b.Why); why != "" && !slices.Contains(whys[b.Way], why) {
			whys[b.Way] = append(whys[b.Way], why)
		}
	}
	if s.Times == 0 {
		return nil
	}
	for _, way := range slices.Sorted(maps.Keys(times)) {
		said := fmt.Sprintf("%d by %s", times[way], way)
		if len(whys[way]) > 0 {
			said += " (" + strings.Join(whys[way], "; ") + ")"
		}
		s.Ways = append(s.Ways, said)
	}
	return &s
}
