package tables

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"dsstar/agent/bench/runner"
)

// Sizes of a plot, in pixels.
const (
	plotWidth  = 460
	plotHeight = 240
	marginLeft = 42
	marginLow  = 34
	marginHigh = 12
)

// A canvas is an SVG under construction. All numbers have one decimal, so that equal figures
// give equal bytes.
type canvas struct{ strings.Builder }

func newCanvas() *canvas {
	c := &canvas{}
	fmt.Fprintf(c, `<svg role="img" width="%d" height="%d" viewBox="0 0 %d %d">`, plotWidth,
		plotHeight, plotWidth, plotHeight)
	return c
}

func (c *canvas) done() template.HTML {
	c.WriteString("</svg>")
	return template.HTML(c.String()) // numbers, and text that text has escaped
}

func (c *canvas) rect(x, y, w, h float64, fill, title string) {
	fmt.Fprintf(
		c,
		`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"><title>%s</title></rect>`,
		x,
		y,
		w,
		h,
		fill,
		template.HTMLEscapeString(title),
	)
}

func (c *canvas) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(c, `<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, class, x1, y1, x2, y2)
}

func (c *canvas) text(x, y float64, anchor, text string) {
	fmt.Fprintf(c, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, x, y, anchor,
		template.HTMLEscapeString(text))
}

// axes draws the left axis with marks from 0 to most, and the base line.
func (c *canvas) axes(most float64, format string) (y func(float64) float64) {
	bottom := float64(plotHeight - marginLow)
	y = func(v float64) float64 { return bottom - v/most*(bottom-marginHigh) }
	for i := range 5 {
		v := most * float64(i) / 4
		c.line("axis", marginLeft, y(v), plotWidth, y(v))
		c.text(marginLeft-6, y(v)+4, "end", fmt.Sprintf(format, v))
	}
	return y
}

// bars draws groups of bars, one bar of each group for each run.
func (c *canvas) bars(groups []string, runs int, y func(float64) float64,
	value func(group, run int) (v float64, low, high *float64, title string)) {
	width := float64(plotWidth-marginLeft) / float64(max(1, len(groups)))
	bar := min(40, width*0.8/float64(max(1, runs)))
	for g, name := range groups {
		middle := marginLeft + width*(float64(g)+0.5)
		left := middle - bar*float64(runs)/2
		for r := range runs {
			v, low, high, title := value(g, r)
			if title == "" {
				continue
			}
			x := left + bar*float64(r)
			c.rect(x+1, y(v), bar-2, y(0)-y(v), colour(r), title)
			if low != nil {
				c.line("whisker", x+bar/2, y(*low), x+bar/2, y(*high))
			}
		}
		c.text(middle, plotHeight-marginLow+16, "middle", cut(name, max(4, int(width/7))))
	}
}

func byLevel(runs []runner.Result) plot {
	groups := []string{"all"}
	for _, r := range runs {
		for _, item := range r.Items {
			if item.Level != "" && !slices.Contains(groups, item.Level) {
				groups = append(groups, item.Level)
			}
		}
	}
	order := []string{"all", "easy", "medium", "hard"}
	place := func(name string) int {
		if i := slices.Index(order, strings.ToLower(name)); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(groups, func(a, b string) int { return place(a) - place(b) })
	c := newCanvas()
	y := c.axes(100, "%.0f")
	c.bars(groups, len(runs), y, func(g, i int) (float64, *float64, *float64, string) {
		chosen := level(groups[g])
		if groups[g] == "all" {
			chosen = nil
		}
		v := accuracy(runs[i], chosen)
		if v == nil {
			return 0, nil, nil, ""
		}
		return v.Value, v.Low, v.High, fmt.Sprintf("%s, %s: %s", Variation(runs[i]), groups[g], v.text(2))
	})
	return plot{
		"Score by level",
		"The mean score in per cent, with its 95 % interval (Wilson).",
		c.done(),
	}
}

func byRounds(runs []runner.Result) plot {
	const most = 20
	counts := make([][]float64, len(runs))
	last, high := 1, 1.0
	for i, r := range runs {
		counts[i] = make([]float64, most+1)
		for _, record := range r.Records {
			n := min(record.Rounds, most)
			counts[i][n]++
			last = max(last, n)
		}
		for n := range counts[i] {
			counts[i][n] *= 100 / float64(max(1, len(r.Records)))
			high = max(high, counts[i][n])
		}
	}
	first := 1 // usually no task took 0 rounds
	for _, shares := range counts {
		if shares[0] > 0 {
			first = 0
		}
	}
	var groups []string
	for n := first; n <= last; n++ {
		groups = append(groups, fmt.Sprint(n))
	}
	c := newCanvas()
	y := c.axes(high, "%.0f")
	c.bars(groups, len(runs), y, func(g, i int) (float64, *float64, *float64, string) {
		n := first + g
		return counts[i][n], nil, nil, fmt.Sprintf("%s: %.1f %% of the tasks took %d rounds",
			Variation(runs[i]), counts[i][n], n)
	})
	return plot{"Rounds", "How many rounds (or steps) tasks took, in per cent of the tasks; the " +
		"last may be more.", c.done()}
}

func byCost(runs []runner.Result) plot {
	c := newCanvas()
	y := c.axes(100, "%.0f")
	high := 0.0
	costs := make([]*Value, len(runs))
	for i, r := range runs {
		if costs[i] = meanCost(nil)(r); costs[i] != nil {
			high = max(high, costs[i].Value)
		}
	}
	unit, format := "US dollars a task", "%.3f"
	if high == 0 { // no price is known: show tokens instead
		unit, format = "thousand tokens a task", "%.1f"
		for i, r := range runs {
			costs[i] = meanOf(nil, func(r runner.Record) float64 {
				return (inTokens(r) + outTokens(r)) / 1000
			})(r)
			if costs[i] != nil {
				high = max(high, costs[i].Value)
			}
		}
	}
	high = max(high*1.1, 1e-9)
	for i, r := range runs {
		v := accuracy(r, nil)
		if v == nil || costs[i] == nil {
			continue
		}
		x := marginLeft + costs[i].Value/high*(plotWidth-marginLeft-10)
		c.line("whisker", x, y(*v.Low), x, y(*v.High))
		fmt.Fprintf(c, `<circle cx="%.1f" cy="%.1f" r="5" fill="%s"><title>%s</title></circle>`, x,
			y(v.Value), colour(i),
			template.HTMLEscapeString(fmt.Sprintf("%s: %.2f %% at "+format+" %s", Variation(r), v.Value,
				costs[i].Value, unit)))
	}
	for i := range 5 {
		v := high * float64(i) / 4
		c.text(marginLeft+v/high*(plotWidth-marginLeft-10), plotHeight-marginLow+16, "middle",
			fmt.Sprintf(format, v))
	}
	return plot{"Cost and score", "The mean score in per cent against " + unit + ".", c.done()}
}

func byCause(runs []runner.Result) plot {
	var groups []string
	counts := map[string][]float64{}
	high := 1.0
	for _, cause := range runner.Causes() {
		shares := make([]float64, len(runs))
		some := false
		for i, r := range runs {
			for _, record := range r.Records {
				if record.Cause == cause {
					shares[i] += 100 / float64(len(r.Records))
					some = true
				}
			}
			high = max(high, shares[i])
		}
		if some {
			groups = append(groups, string(cause))
			counts[string(cause)] = shares
		}
	}
	c := newCanvas()
	y := c.axes(high, "%.0f")
	c.bars(groups, len(runs), y, func(g, i int) (float64, *float64, *float64, string) {
		v := counts[groups[g]][i]
		return v, nil, nil, fmt.Sprintf("%s: %.1f %% %s", Variation(runs[i]), v, groups[g])
	})
	return plot{"Failures by cause", "In per cent of the tasks.", c.done()}
}
