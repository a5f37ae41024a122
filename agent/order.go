package agent

import (
	"slices"
	"strings"

	"dsstar/agent/record"
	"dsstar/notebook/compare"
	"dsstar/notebook/lazy"
)

var (
	anyOrder = lazy.Regexp(`(?i)\bany\s+order\b|\border\s+(?:does\s+not|doesn't)\b|\bunordered\b`)
	// "sort of" and "rank" as the name of a column are no orders
	inOrder = lazy.Regexp(`(?i)\b(?:order(?:ed)?\s+(?:by|from)|in\s+(?:\w+\s+)?order|sorted|` +
		`sort\s+(?:\w+\s+){0,3}by|ranked|rank(?:ing)?\s+(?:\w+\s+){0,2}by|ascending|descending|` +
		`\w+est\s+first|most\s+first|least\s+first|by\s+(?:de|in)creasing|top|` +
		`from\s+(?:the\s+)?(?:\w+est|most|least)|chronological\w*|alphabetical\w*|` +
		`in\s+(?:the\s+)?(?:sequence|reverse)|a(?:\s+to\s+|-)z|` +
		`(?:\w+est|worst|high|low)\s+to\s+(?:\w+est|worst|high|low)|` +
		`absteigend\w*|aufsteigend\w*|sortiert\w*|geordnet\w*|(?:dé)?croissante?s?)\b`)
	// "which stores", "what are the names of the stores", "a list of stores", with their clause
	manyNames = lazy.Regexp(`(?i)\b((?:which|what\s+(?:are|(?:sort|kind|type)s?\s+of)|who\s+are|list|` +
		`name\s+all|names)\s+(?:[\w-]+\s+){0,4}?[\w-]{2,}(?:[^\Wsiue]|[^\Wo]e)s|` +
		`welchen?\s+(?:\pL+\s+){0,3}?(?-i:\p{Lu})\pL+[nrs]|quel(?:le)?s\s+(?:\pL+\s+){0,3}?\pL+[sx])` +
		`((?:[^\pL\d.?!\n][^.?!\n]*)?)(?:[.?!\n]|$)`)
	// the names come by something else, or are those of steps, or of two things
	inSteps   = lazy.Regexp(`(?i)^,?\s*(?:by|per|and|nach|je|pro|und|par|et)\b`)
	stepNames = lazy.Regexp(`(?i)\b(?:and|und|et)\b|\b(?:ranks|steps|stages|phases)$`)
	asking    = lazy.Regexp(`(?i)(?:^|[.?!\n])\s*(?:which|what|who|list|name|give|find|return|report|` +
		`welche|quel)[^.?!\n]*|[^.?!\n]*\?`)
	// "the winner and the loser", "in January and February", "in each quarter", "from north to south"
	hasRoles = lazy.Regexp(`(?i)\b(?:and|und|et)\s+(?:(?:the|their|its|a|der|die|das|le|la|les)\s+)?` +
		`[\pL\d-]+\s*(?:$|[,;?.!]|\b(?:of|in|for|names?|von|de)\b)|\b(?:of|in|for)\s+(?:each|every)\b|` +
		`\b\d{4}\s*,\s*\d{4}\b|\bfrom\b.+\bto\b|\bvon\b.+\b(?:bis|nach)\b|\bde\b.+\sà\s`)
	aRange = lazy.Regexp(`(?i)\bbetween\s+\S+\s+and\s+\S+`)
	aRole  = lazy.Regexp(`(?i)\b(?:\w{2,}est|most|least|first|last|second|worst|min\w*|max\w*|` +
		`respectively|followed|meisten|wenigsten|\pL+[sßz]te[nrs]?|le\s+plus|le\s+moins)\b`)
)

// asked returns what question and form say of the answer, for comparisons.
func asked(t *record.Trajectory) compare.Asked {
	words := t.Task.Question + "\n" + t.Task.Guidelines
	return compare.Asked{Words: words, Decimals: formOf(t.Task).decimals, Order: orderIn(words),
		None: t.Inconclusive()}
}

// orderIn reads from question and form whether the order of an answer's items matters. It does
// where each has a role, the largest and the smallest.
func orderIn(words string) compare.Order {
	roles := map[string]bool{}
	for _, role := range aRole().FindAllString(words, -1) {
		roles[strings.ToLower(role)] = true
	}
	switch {
	case anyOrder().MatchString(words):
		return compare.Free
	case inOrder().MatchString(words):
		return compare.Fixed
	case len(roles) < 2 && !roles["respectively"] && asksNames(words):
		return compare.Names
	}
	return compare.Unsaid
}

// asksNames reports whether a text asks for a set of names: nothing in the clause, or in another
// sentence that asks, gives each a role.
func asksNames(words string) bool {
	words = aRange().ReplaceAllString(words, "")
	if slices.ContainsFunc(asking().FindAllString(words, -1), hasRoles().MatchString) {
		return false
	}
	clauses := manyNames().FindAllStringSubmatch(words, -1)
	return len(clauses) > 0 && !slices.ContainsFunc(clauses, func(m []string) bool {
		return stepNames().MatchString(m[1]) || inSteps().MatchString(m[2]) ||
			hasRoles().MatchString(m[0])
	})
}
