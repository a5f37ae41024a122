package agent

import (
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
	// "which stores", "what are the names of the stores", "a list of stores"
	manyNames = lazy.Regexp(`(?i)\b(?:which|what\s+(?:are|(?:sort|kind|type)s?\s+of)|who\s+are|list|` +
		`name\s+all|names)\s+(?:[\w-]+\s+){0,4}?[\w-]{2,}(?:[^\Wsiue]|[^\Wo]e)s\b`)
	// "the winner and the loser", "by month", "in each quarter", "from north to south", "the steps"
	haveRoles = lazy.Regexp(`(?i)\b(?:and|by|per|each|every|from|respectively|followed|steps|stages|` +
		`\w{2,}est|most|least|first|last|second|worst|min\w*|max\w*)\b`)
)

// asked returns what question and form say of the answer, for comparisons.
func asked(t *record.Trajectory) compare.Asked {
	words := t.Task.Question + "\n" + t.Task.Guidelines
	return compare.Asked{Words: words, Decimals: formOf(t.Task).decimals, Order: orderIn(words),
		None: t.Inconclusive()}
}

// orderIn reads from question and form whether the order of an answer's items matters. It may, unless
// they ask for names and have no word that gives each a role, such as the largest and the smallest.
func orderIn(words string) compare.Order {
	switch {
	case anyOrder().MatchString(words):
		return compare.Free
	case inOrder().MatchString(words):
		return compare.Fixed
	case manyNames().MatchString(words) && !haveRoles().MatchString(words):
		return compare.Names
	}
	return compare.Unsaid
}
