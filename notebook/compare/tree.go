package compare

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"dsstar/notebook/lists"
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
	names []string // of an object's items, sorted
	items []node
}

func (n node) values() (all []atom) {
	if n.kind == scalar {
		return []atom{n.atom}
	}
	for _, item := range n.items {
		all = append(all, item.values()...)
	}
	return all
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
	return strings.Join(lists.Map(n.values(), func(a atom) string { return a.text }), "\n")
}

// words returns the words and dates of a part that may be names, and its numbers.
func (n node) words() (words string, numbers []*big.Rat) {
	for _, a := range n.values() {
		if a.number != nil {
			numbers = append(numbers, a.number.value)
		} else if text := strings.Trim(cmp.Or(a.date, a.folded), "- "); text != "" && truths[text] == "" {
			words += text + "\x00"
		}
	}
	return words, numbers
}

func (asked Asked) nodes(x, y node) Finding {
	switch {
	case x.kind < y.kind:
		return asked.unlike(y, x)
	case x.kind > y.kind:
		return asked.unlike(x, y)
	case x.kind == scalar:
		return asked.atoms(x.atom, y.atom)
	case x.kind == object:
		return asked.objects(x, y)
	case x.kind == row:
		return asked.inTurn(x.items, y.items)
	}
	return asked.lists(x.items, y.items)
}

// unlike compares a list or an object with something simpler, which may be its only item.
func (asked Asked) unlike(x, y node) Finding {
	isWord := func(n node) bool { return n.atom.number == nil }
	switch {
	case len(x.items) == 1 && x.kind == list:
		return asked.nodes(x.items[0], y)
	case len(x.items) == 1:
		return asked.nodes(x.items[0], y).and(Finding{Unsure, "only one of them has a name"})
	case x.kind == list && len(x.items) > 1 && !isWord(y) && !slices.ContainsFunc(x.items, isWord):
		return Finding{Different, fmt.Sprintf("%d numbers / one", len(x.items))}
	}
	return Finding{Unsure, "they are built differently"}
}

// objects compares items by their names.
func (asked Asked) objects(x, y node) (found Finding) {
	if len(x.names) != len(y.names) {
		found = Finding{Unsure, fmt.Sprintf("%d names / %d", len(x.names), len(y.names))}
	}
	for i, name := range x.names {
		if j := slices.Index(y.names, name); j >= 0 {
			found = found.and(asked.nodes(x.items[i], y.items[j]).under(name))
		} else {
			found = found.and(Finding{Unsure, "only one of them has " + name})
		}
	}
	return found
}

// inTurn compares items one after the other.
func (asked Asked) inTurn(x, y []node) (found Finding) {
	if len(x) != len(y) {
		return Finding{Unsure, fmt.Sprintf("%d items / %d", len(x), len(y))}
	}
	for i := 0; i < len(x) && found.Sameness != Different; i++ {
		found = found.and(asked.nodes(x[i], y[i]))
	}
	return found
}

// lists compares items in order or, as far as they are free, in any order.
func (asked Asked) lists(x, y []node) Finding {
	found := asked.inTurn(x, y)
	if len(x) != len(y) && !slices.ContainsFunc(slices.Concat(x, y), node.isVague) {
		return Finding{Different, fmt.Sprintf("%d items / %d", len(x), len(y))}
	}
	if found.Sameness == Same || len(x) != len(y) {
		return found
	}
	left, words := sorted(x)
	right, others := sorted(y)
	other, areFree := asked.inTurn(left, right), asked.isFree(x, words) && asked.isFree(y, others)
	switch {
	case areFree && slices.Equal(words, others):
		return other
	case other.Sameness == Same && !areFree:
		return Finding{Unsure, "the same items in another order"}
	case other.Sameness < found.Sameness:
		return other
	}
	return found
}

// isVague reports whether an item is nothing, perhaps several, or a sentence.
func (n node) isVague() bool {
	text := n.atom.text
	return n.kind == scalar && text == "" || strings.Contains(text, ", ") ||
		anAnd().MatchString(text) || strings.Count(text, " ") > 3
}

// isFree reports whether items, sorted by their words, may come in any order: names may if it does
// not matter, and rows that words or dates tell apart.
func (asked Asked) isFree(items []node, words []string) bool {
	areRows := !slices.ContainsFunc(items, func(n node) bool { return n.kind < row || len(n.items) < 2 })
	areApart := areRows && len(slices.Compact(slices.Clone(words))) == len(words)
	return asked.Order == Free || words[0] != "" &&
		(asked.Order == Names || asked.Order == Unsaid && areApart)
}

// sorted returns items in one order, however their numbers are written: by their words, which it
// returns, then by their numbers.
func sorted(items []node) (all []node, words []string) {
	type keyed struct {
		node    node
		words   string
		numbers []*big.Rat
	}
	keys := make([]keyed, len(items))
	for i, n := range items {
		words, numbers := n.words()
		keys[i] = keyed{n, words, numbers}
	}
	slices.SortStableFunc(keys, func(a, b keyed) int {
		return cmp.Or(strings.Compare(a.words, b.words),
			slices.CompareFunc(a.numbers, b.numbers, (*big.Rat).Cmp))
	})
	for _, k := range keys {
		all, words = append(all, k.node), append(words, k.words)
	}
	return all, words
}
