package compare

import (
	"slices"
	"strings"

	"dsstar/notebook/lazy"
)

// charts compares what drawings show and, if that is the same, what they say in words.
func (c comparison) charts(x, y node) Finding {
	if c.asked.Order != Fixed {
		c.asked.Order = Free // marks are where they are
	}
	says, saysToo := x.take("texts"), y.take("texts")
	found := c.wholes(x, y)
	for i, place := range says.names {
		if j := slices.Index(saysToo.names, place); j >= 0 && found.Sameness == Same {
			found = c.captions(says.items[i].lines(), saysToo.items[j].lines()).under(place)
		}
	}
	return found
}

// take removes an item of an object and returns it.
func (n *node) take(name string) (item node) {
	if i := slices.Index(n.names, name); i >= 0 {
		item = n.items[i]
		n.names, n.items = slices.Delete(n.names, i, i+1), slices.Delete(n.items, i, i+1)
	}
	return item
}

// lines returns the values of a part, each in a line.
func (n node) lines() string {
	var lines []string
	n.visit(func(a atom) { lines = append(lines, a.text) })
	return strings.Join(lines, "\n")
}

var scale = lazy.Regexp(`(?i)\b(?:thousand|million|billion)`)

// captions compares titles, or other words of charts, which everyone writes differently. Only other
// numbers and another scale say that something may be different.
func (c comparison) captions(a, b string) Finding {
	numbers, others := quantitiesIn(a), quantitiesIn(b)
	isScaled := len(scale().FindAllString(a, -1)) != len(scale().FindAllString(b, -1))
	areSame := c.within(numbers, others) && c.within(others, numbers)
	if isScaled || len(numbers) > 0 && len(others) > 0 && !areSame {
		return Finding{Unsure, short(a) + " / " + short(b)}
	}
	return Finding{}
}

func quantitiesIn(text string) (all []*quantity) {
	for _, m := range numberIn().FindAllStringSubmatch(text, -1) {
		if q := quantityOf(m[2]); q != nil {
			all = append(all, q)
		}
	}
	return all
}

// within reports whether each number can be one of others.
func (c comparison) within(numbers, others []*quantity) bool {
	return !slices.ContainsFunc(numbers, func(x *quantity) bool {
		return !slices.ContainsFunc(others, func(y *quantity) bool {
			sameness, _ := c.quantities(x, y)
			return sameness != Different
		})
	})
}
