package compare

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"dsstar/notebook/lazy"
)

type kind int

const (
	scalar kind = iota
	list
	row // of a table that does not name its columns
	object
)

// A node is an answer, or a part of one. A table is a list of rows or objects.
type node struct {
	kind  kind
	atom  atom     // of a scalar
	names []string // of an object's items
	items []node
	lined bool // of an object: it is a line or lines, and has an order
	// of an object: its names are perhaps values, since all cells below them are words, too
	guessed bool
}

func (c comparison) nodes(x, y node) Finding {
	switch {
	case x.kind < y.kind:
		return c.unlike(y, x)
	case x.kind > y.kind:
		return c.unlike(x, y)
	case x.kind == scalar:
		return c.atoms(x.atom, y.atom)
	case x.kind == object:
		return c.objects(x, y)
	case x.kind == row:
		return c.inTurn(x.items, y.items)
	}
	return c.lists(x.items, y.items, c.isFree(x.items) && c.isFree(y.items))
}

// unlike compares a list or an object with something simpler: its only item, or values without
// their labels.
func (c comparison) unlike(x, y node) Finding {
	isWord := func(n node) bool { return n.atom.number == nil }
	switch {
	case len(x.items) == 1 && (x.kind == list || x.kind == object && c.areKnown(x.names)):
		return c.nodes(x.items[0], y)
	case x.lined && y.kind == list && c.areKnown(x.names) && c.areInTurn(x.names):
		return c.nodes(node{kind: list, items: x.items}, y)
	case x.kind == list && len(x.items) > 1 && !isWord(y) && !slices.ContainsFunc(x.items, isWord):
		return Finding{Different, fmt.Sprintf("%d numbers / one", len(x.items))}
	}
	return Finding{Unsure, "they are built differently"}
}

// choices are sentences that leave a choice: which of them it is, its name alone says.
var choices = lazy.Regexp(`(?i)[^.?!\n]*\b(?:or|which|who|whose|whether)\b[^.?!\n]*`)

// areKnown reports whether all words of labels stand in question or form, and name no choice.
func (c comparison) areKnown(labels []string) bool {
	words := func(text string) []string {
		return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r)
		})
	}
	known := words(choices().ReplaceAllString(c.asked.Words, "") + " the final answer result value is")
	return !slices.ContainsFunc(words(strings.Join(labels, " ")), func(word string) bool {
		return !slices.Contains(known, word)
	})
}

// areInTurn reports whether question and form name labels in their order, as far as they do.
func (c comparison) areInTurn(labels []string) bool {
	var at []int
	for _, label := range labels {
		if i := strings.Index(strings.ToLower(c.asked.Words), label); i >= 0 {
			at = append(at, i)
		}
	}
	return slices.IsSorted(at)
}

const otherOrder = "the same items in another order"

// objects compares items by their names.
func (c comparison) objects(x, y node) (found Finding) {
	for i, name := range x.names {
		if j := slices.Index(y.names, name); j >= 0 {
			found = found.and(c.nodes(x.items[i], y.items[j]).under(name))
		} else {
			found = found.and(Finding{Unsure, "only one of them has " + name})
		}
	}
	if len(x.names) != len(y.names) {
		found = found.and(Finding{Unsure, fmt.Sprintf("%d names / %d", len(x.names), len(y.names))})
	}
	isOrdered := x.lined && c.asked.Order == Fixed || x.guessed && y.guessed && !c.areKnown(x.names)
	if isOrdered && !slices.Equal(x.names, y.names) {
		found = found.and(Finding{Unsure, otherOrder})
	}
	return found
}

// inTurn compares items one after the other.
func (c comparison) inTurn(x, y []node) (found Finding) {
	if len(x) != len(y) {
		return Finding{Unsure, fmt.Sprintf("%d items / %d", len(x), len(y))}
	}
	for i := 0; i < len(x) && found.Sameness != Different; i++ {
		found = found.and(c.nodes(x[i], y[i]))
	}
	return found
}

// isFree reports whether items may come in any order: names if it does not matter, and rows whose
// words or dates tell them apart.
func (c comparison) isFree(items []node) bool {
	if c.asked.Order == Free || c.asked.Order == Fixed {
		return c.asked.Order == Free
	}
	rows := map[string]bool{}
	for _, n := range items {
		name := n.name()
		isName := n.kind == scalar && c.asked.Order == Names && name != ""
		isRow := n.kind >= row && len(n.items) > 1 && name != "" && !rows[name]
		if !isName && !isRow {
			return false
		}
		rows[name] = true
	}
	return true
}

// name returns the words and dates of a part.
func (n node) name() (name string) {
	n.visit(func(a atom) {
		if a.number == nil && truths[a.folded] == "" && !noAnswers[a.folded] {
			name += strings.Trim(a.folded, "- ") + "\x00"
		}
	})
	return strings.TrimLeft(name, "\x00")
}

// maxPaired is how many items are compared each with each.
const maxPaired = 1000

// lists compares items in order or, as far as they are free, in any order.
func (c comparison) lists(x, y []node, free bool) Finding {
	inOrder := c.inTurn(x, y)
	if inOrder.Sameness == Same {
		return inOrder
	}
	left, right := byKey(x), byKey(y)
	isLong := len(x)+len(y) > maxPaired
	if c.inTurn(left, right).Sameness == Same {
		left, right = nil, nil
	} else if !isLong {
		left, right = c.unpaired(x, y)
	}
	extra := append(left, right...)
	switch {
	case len(extra) == 0 && free:
		return Finding{}
	case len(extra) == 0:
		return Finding{Unsure, otherOrder}
	case len(x) == len(y):
		return c.inTurn(left, right)
	case !isLong && c.has(y, left) && c.has(x, right):
		return Finding{Unsure, "an item is repeated"}
	case slices.ContainsFunc(extra, func(n node) bool { return strings.Count(n.atom.text, " ") > 3 }):
		return inOrder // sentences
	case slices.ContainsFunc(extra, func(n node) bool { return strings.Contains(n.atom.text, ", ") }):
		return Finding{Unsure, "an item is perhaps several"}
	case slices.ContainsFunc(extra, func(n node) bool { return n.kind == scalar && n.key() == "" }):
		return Finding{Unsure, "an item is empty"}
	}
	return Finding{Different, fmt.Sprintf("%d items / %d", len(x), len(y))}
}

// has reports whether each item is the same as one of a list.
func (c comparison) has(all, items []node) bool {
	return !slices.ContainsFunc(items, func(item node) bool {
		return !slices.ContainsFunc(all, func(n node) bool { return c.nodes(item, n).Sameness == Same })
	})
}

// unpaired returns the items of two lists that are left when each has been paired with one that is
// the same.
func (c comparison) unpaired(x, y []node) (left, right []node) {
	right = slices.Clone(y)
	for _, item := range x {
		at := slices.IndexFunc(right, func(n node) bool { return c.nodes(item, n).Sameness == Same })
		if at < 0 {
			left = append(left, item)
		} else {
			right = slices.Delete(right, at, at+1)
		}
	}
	return left, right
}

// visit visits the values of a part.
func (n node) visit(each func(atom)) {
	if n.kind == scalar {
		each(n.atom)
	}
	for _, item := range n.items {
		item.visit(each)
	}
}

// byKey returns items sorted by their keys.
func byKey(items []node) []node {
	keys := make([]string, len(items))
	order := make([]int, len(items))
	for i, n := range items {
		keys[i], order[i] = n.key(), i
	}
	slices.SortStableFunc(order, func(i, j int) int { return strings.Compare(keys[i], keys[j]) })
	sorted := make([]node, len(items))
	for i, at := range order {
		sorted[i] = items[at]
	}
	return sorted
}

// key returns a text by which parts that are the same are sorted alike.
func (n node) key() string {
	var keys []string
	n.visit(func(a atom) {
		if a.number != nil {
			keys = append(keys, a.number.value.FloatString(0))
		} else {
			keys = append(keys, a.folded)
		}
	})
	if n.kind == object {
		slices.Sort(keys)
	}
	return strings.Join(keys, "\x00")
}
