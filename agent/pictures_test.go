package agent_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsstar/agent"
	"dsstar/agent/record"
	"dsstar/notebook"
)

// A painter is a session in which a cell shows a picture for each of its comments "# shows", whose
// bytes are the rest of the line. In its folder there are pictures, too.
type painter struct{ *session }

func (p painter) Execute(ctx context.Context, code string) (notebook.Execution, error) {
	e, err := p.session.Execute(ctx, code)
	for line := range strings.Lines(code) {
		if text, shows := strings.CutPrefix(strings.TrimSpace(line), "# shows "); shows {
			e.Outputs = append(e.Outputs, notebook.Output{Type: notebook.DisplayData,
				Data: notebook.MIMEBundle{"image/png": base64.StdEncoding.EncodeToString([]byte(text))}})
		}
	}
	return e, err
}

// paints lets the sessions of both derivations show pictures. Their folders have the named files,
// which hold their names.
func paints(written ...string) func(*stage) {
	return func(s *stage) {
		open := s.config.Open
		s.config.Open = func(ctx context.Context, p agent.Purpose, dir string) (agent.Session, error) {
			one, err := open(ctx, p, dir)
			if p != agent.Work && p != agent.Second || err != nil {
				return one, err
			}
			files := record.Folder(dir).Files()
			err = os.MkdirAll(files, 0o755)
			for _, name := range written {
				data := bytes.Repeat([]byte(name), 1+strings.Count(name, "big")<<20)
				err = errors.Join(err, os.WriteFile(filepath.Join(files, name), data, 0o600))
			}
			return painter{one.(*session)}, err
		}
	}
}

// TestPictures: the judge sees the pictures that the question asks for and those of the cells, the
// last first, and no more than three. No other role sees one.
func TestPictures(t *testing.T) {
	const one = "x = 1\nprint(x)"
	for _, c := range []struct {
		name, question, cell string
		want                 []string // name and bytes of each
	}{
		{"none", "How many?", one, nil},
		{"of a cell", "How many?", one + "\n# shows A", []string{"step 1, output 2: A"}},
		{"a file that is asked for", "Save the chart as chart.png.", one,
			[]string{"chart.png: chart.png"}},
		{"file and cell", "Save the chart as chart.png.", one + "\n# shows A",
			[]string{"chart.png: chart.png", "step 1, output 2: A"}},
		{"more than three", "Save the chart as chart.png.", one + "\n# shows A\n# shows B\n# shows C",
			[]string{"chart.png: chart.png", "step 1, output 4: C", "step 1, output 3: B"}},
		{"a file that is too large", "Save the chart as big.png.", one, nil},
		{"a file that is no picture", "Save the text as table.txt.", one, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := play(t, simple.with(script{"cell round 1": c.cell}), func(s *stage) {
				s.task.Question = c.question
			}, paints("chart.png", "other.png", "big.png", "table.txt")).noError(t)
			var got []string
			for _, i := range p.model.requests["judge round 1"].Images {
				got = append(got, i.Name+": "+string(i.Data))
			}
			equal(t, "pictures", got, c.want)
			for _, w := range c.want {
				name, _, _ := strings.Cut(w, ": ")
				contains(t, p.model.prompt(t, "judge round 1"), name)
			}
			for key, r := range p.model.requests {
				if r.Role != "judge" && len(r.Images) > 0 {
					t.Errorf("%s has pictures", key)
				}
			}
		})
	}
	// a step that was dropped shows nothing any more
	p := play(t, simple.with(script{"cell round 1": one + "\n# shows A", "verdict round 1": bad,
		"wrong round 1": "1", "cell round 2": one + "\n# shows B"}), paints()).noError(t)
	images := p.model.requests["judge round 2"].Images
	if len(images) != 1 || string(images[0].Data) != "B" {
		t.Errorf("after going back: %+v", images)
	}
}
