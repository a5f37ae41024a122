package tables

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"path/filepath"

	"dsstar/agent/bench/runner"
)

//go:embed report.html.tmpl
var reportText string

// A page is the data of the template.
type page struct {
	Title string
	Runs  []pageRun
	Plots []plot
}

type pageRun struct {
	Anchor, Colour, Name, Bench, Agent, Model, Tasks, Score, Interval, Calls, Cost string

	Notes []string
	Roles []pageRole
	Lines []pageLine
}

type pageRole struct{ Role, Calls, Input, Cached, Output string }

type pageLine struct {
	Task, Level, Domain, Score, Class, Answer, Cost, Cause string
	Link                                                   template.URL
	Rounds, Repairs, Calls, Tokens                         int
}

// A plot is a drawing with its caption.
type plot struct {
	Title, Caption string
	SVG            template.HTML
}

// Report writes one self-contained page about runs, without scripts. Each task has a link to
// its notebook, relative to the folder dir of the page.
func Report(w io.Writer, dir string, runs []runner.Result) error {
	t, err := template.New("report").Parse(reportText)
	if err != nil {
		return err
	}
	p := page{Title: "Benchmark report"}
	for i, r := range runs {
		one, err := newPageRun(r, i, dir)
		if err != nil {
			return err
		}
		p.Runs = append(p.Runs, one)
	}
	p.Plots = []plot{byLevel(runs), byRounds(runs), byCost(runs), byCause(runs)}
	return t.Execute(w, p)
}

// colours are the runs' colours, from a colour-blind-safe palette (Okabe and Ito).
var colours = []string{"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00",
	"#999999", "#f0e442"}

func colour(i int) string { return colours[i%len(colours)] }

func newPageRun(r runner.Result, i int, dir string) (pageRun, error) {
	one := pageRun{
		Anchor: fmt.Sprintf("run-%d", i+1), Colour: colour(i), Name: filepath.Base(r.Path), Bench: r.Bench, Agent: Variation(r), Model: r.Model,
		Tasks: fmt.Sprint(len(r.Items)), Score: absent, Interval: absent, Calls: absent, Cost: absent, Notes: about(r),
	}
	if v := accuracy(r, nil); v != nil {
		one.Score = fmt.Sprintf("%.2f", v.Value)
		one.Interval = fmt.Sprintf("%.1f to %.1f", *v.Low, *v.High)
	}
	if v := meanOf(nil, calls)(r); v != nil {
		one.Calls = fmt.Sprintf("%.1f", v.Value)
	}
	if v := meanCost(nil)(r); v != nil {
		one.Cost = fmt.Sprintf("%.4f", v.Value)
	}
	used := usedBy(r)
	for _, role := range used.Roles {
		one.Roles = append(one.Roles, pageRole{role.Role, fmt.Sprintf("%.2f", role.Calls),
			fmt.Sprintf("%.0f", role.Input), fmt.Sprintf("%.0f", role.Cached),
			fmt.Sprintf("%.0f", role.Output)})
	}
	one.Notes = append(one.Notes, used.derived()...)
	for _, record := range r.Records {
		line, err := newPageLine(record, r.Path, dir)
		if err != nil {
			return one, err
		}
		one.Lines = append(one.Lines, line)
	}
	return one, nil
}

func newPageLine(r runner.Record, run, dir string) (pageLine, error) {
	line := pageLine{
		Task: r.Key().String(), Level: r.Level, Domain: r.Domain, Answer: cut(r.Answer,
			300), Cause: string(r.Cause), Score: absent, Cost: absent,
		Rounds: r.Rounds, Repairs: r.DebugTries, Calls: r.Usage.Calls, Tokens: r.Usage.InputTokens +
			r.Usage.OutputTokens,
	}
	if v, ok := r.Value(); ok {
		line.Score, line.Class = fmt.Sprintf("%.4g", v), "wrong"
		if r.Right() {
			line.Class = "right"
		}
	}
	if r.Cost != nil {
		line.Cost = fmt.Sprintf("%.4f", *r.Cost)
	}
	if r.Notebook == "" {
		return line, nil
	}
	from, err := filepath.Abs(dir)
	if err != nil {
		return line, err
	}
	to, err := filepath.Abs(filepath.Join(run, filepath.FromSlash(r.Notebook)))
	if err != nil {
		return line, err
	}
	rel, err := filepath.Rel(from, to)
	if err != nil {
		return line, err
	}
	u := url.URL{Path: filepath.ToSlash(rel)}
	// escaped above, and relative: "./a:b" where the name has a colon
	line.Link = template.URL(u.String())
	return line, nil
}

func cut(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
