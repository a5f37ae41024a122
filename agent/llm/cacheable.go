package llm

import (
	"slices"
	"strings"
)

// A Share is how much of a request's messages repeats the beginning of an earlier request.
// An endpoint could serve that part from a prefix cache.
type Share struct {
	Known  bool // false: the trace has no messages for this reply; all counts are 0
	Bytes  int  // size of the messages' roles and texts
	Shared int  // size of the longest prefix shared with an earlier request
	Tokens int  // input tokens of the shared bytes, in proportion to Bytes
}

// Cacheable returns the share of each exchange of one trace, in order. Caches are per model,
// so only requests to the same model are compared. Failed exchanges and rankings share
// nothing.
//
// Real caches hit less: they evict, work in blocks and need a minimum length.
func Cacheable(exchanges []Exchange) []Share {
	shares := make([]Share, len(exchanges))
	seen := map[string][][]Message{} // by model, sorted
	for i, e := range exchanges {
		switch {
		case e.Error != "" || e.Role == rankerRole:
			shares[i].Known = true
			continue
		case len(e.Messages) == 0:
			continue
		}
		s := Share{Known: true}
		for _, m := range e.Messages {
			s.Bytes += len(m.Role) + len(m.Text)
		}
		earlier := seen[e.Model]
		at, _ := slices.BinarySearchFunc(earlier, e.Messages, compareMessages)
		// In sorted order, the longest common prefix is with a neighbour.
		for _, neighbour := range earlier[max(at-1, 0):min(at+1, len(earlier))] {
			s.Shared = max(s.Shared, commonMessages(neighbour, e.Messages))
		}
		if s.Bytes > 0 {
			s.Tokens = e.Usage.InputTokens * s.Shared / s.Bytes
		}
		shares[i] = s
		seen[e.Model] = slices.Insert(earlier, at, e.Messages)
	}
	return shares
}

// compareMessages orders conversations as if each role and text ended with a sentinel that
// sorts first.
func compareMessages(a, b []Message) int {
	return slices.CompareFunc(a, b, func(x, y Message) int {
		if c := strings.Compare(x.Role, y.Role); c != 0 {
			return c
		}
		return strings.Compare(x.Text, y.Text)
	})
}

// commonMessages returns the length of the common prefix, in bytes.
func commonMessages(a, b []Message) int {
	n := 0
	for i := range min(len(a), len(b)) {
		for _, pair := range [][2]string{{a[i].Role, b[i].Role}, {a[i].Text, b[i].Text}} {
			n += commonPrefix(pair[0], pair[1])
			if pair[0] != pair[1] {
				return n
			}
		}
	}
	return n
}

// commonPrefix returns the length of the common prefix. Comparing blocks first is many times
// faster.
func commonPrefix(a, b string) int {
	const block = 1024
	n, end := 0, min(len(a), len(b))
	for n+block <= end && a[n:n+block] == b[n:n+block] {
		n += block
	}
	for n < end && a[n] == b[n] {
		n++
	}
	return n
}
