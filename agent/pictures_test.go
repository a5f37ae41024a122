package agent_test

import (
	"strings"
	"testing"
)

// TestPictures: the judge sees the pictures of the cells, the last first, and no more than three. No
// other role sees one.
func TestPictures(t *testing.T) {
	const one, asks = "x = 1\nsave(chart.png, x)\nprint(x)", "Save the chart as chart.png."
	large := "x = 1\nprint(x)\n# shows " + strings.Repeat("A", 2<<20+1)
	for _, c := range []struct {
		question, cell string
		want           []string // name and bytes of each
	}{
		{"How many?", one, nil},
		{"How many?", one + "\n# shows A", []string{"step 1, output 2: A"}},
		{asks, one, nil},
		{asks, one + "\n# shows A\n# shows B\n# shows C\n# shows D",
			[]string{"step 1, output 5: D", "step 1, output 4: C", "step 1, output 3: B"}},
		{"How many?", large, nil},
	} {
		p := play(t, simple.with(script{"cell round 1": c.cell, "arbiter": "Ruling: undecided"}), asking(c.question, "")).noError(t)
		var got []string
		for _, i := range p.model.requests["judge round 1"].Images {
			got = append(got, i.Name+": "+string(i.Data))
		}
		equal(t, c.question+" "+c.cell, got, c.want)
		for _, w := range c.want {
			name, _, _ := strings.Cut(w, ": ")
			contains(t, p.model.prompt(t, "judge round 1"), name)
		}
		for key, r := range p.model.requests {
			if r.Role != "judge" && len(r.Images) > 0 {
				t.Errorf("%s has pictures", key)
			}
		}
	}
	// a step that was dropped shows nothing any more
	p := play(t, simple.with(script{"cell round 1": one + "\n# shows A", "verdict round 1": bad,
		"wrong round 1": "1", "cell round 2": one + "\n# shows B"})).noError(t)
	images := p.model.requests["judge round 2"].Images
	if len(images) != 1 || string(images[0].Data) != "B" {
		t.Errorf("after going back: %+v", images)
	}
}
