package reply

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dsstar/agent/record"
	"dsstar/notebook/lazy"
)

var (
	errNoPick = errors.New("it makes no choice")

	pickNumber = "(?:(?:candidate|cell|number)[\\s*_`#:]*)?[#(]?(\\d+(?:\\.\\d+)?)"
	pickLabel  = lazy.Regexp(
		"(?im)^" + marks + "(?:(?:my|the|final)\\s+)*(?:choice|pick|selection|candidate)[\\s*_\"'`|)]*(?:[:=|]+|is\\b)[\\s*_\"'`|:]*(.*)$",
	)
	pickFirst = lazy.Regexp("(?i)^" + pickNumber)
	pickAlone = lazy.Regexp("(?im)^" + marks + pickNumber + "[\\s*_`\"').!|}]*$")
	pickMore  = lazy.Regexp(
		"(?i)^[\\s*_`\"',;/&]*(?:(?:or|and)\\s+)?(?:(?:candidate|cell|number)[\\s*_`#]*)?#?\\d+\\b",
	)
)

// Pick is a choice among candidates of the given numbers: a line "Choice: …" with a number,
// or a line with a number alone. A reply that chooses two is an error.
func Pick(numbers []int) Format[record.Pick] {
	var names []string
	for _, n := range numbers {
		names = append(names, strconv.Itoa(n))
	}
	rule := fmt.Sprintf("Reply in two lines: first `Choice:` with one of the numbers %s, "+
		"then `Reason:` with one sentence.", strings.Join(names, ", "))
	parse := func(text string) (record.Pick, error) { return pickIn(text, numbers) }
	return Format[record.Pick]{rule, parse, longestTalk}
}

func pickIn(text string, numbers []int) (record.Pick, error) {
	text, err := fieldsAsLines(text)
	if err != nil {
		return record.Pick{}, err
	}
	chosen := map[string]bool{}
	for _, m := range pickLabel().FindAllStringSubmatch(text, -1) {
		said := pickFirst().FindStringSubmatch(m[1])
		if said == nil {
			return record.Pick{}, errNoPick
		}
		rest := m[1][len(said[0]):]
		switch {
		case pickMore().MatchString(rest):
			return record.Pick{}, errChoices
		case !goesOn().MatchString(rest):
			return record.Pick{}, errNoPick
		}
		chosen[said[1]] = true
	}
	for _, m := range pickAlone().FindAllStringSubmatch(text, -1) {
		chosen[m[1]] = true
	}
	if len(chosen) > 1 {
		return record.Pick{}, errChoices
	}
	for number := range chosen {
		n, err := strconv.Atoi(number)
		if err != nil || !slices.Contains(numbers, n) {
			return record.Pick{}, fmt.Errorf(
				"it names candidate %s, which is not one of those to choose from",
				number,
			)
		}
		reason, _ := reasonIn(text)
		if isNothing(reason) {
			reason = ""
		}
		return record.Pick{Candidate: n, Reason: reason}, nil
	}
	return record.Pick{}, errNoPick
}
