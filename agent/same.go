package agent

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"dsstar/notebook/lazy"
)

// SameAnswer reports whether two answers say the same, in whatever order: see [sameAnswer].
func SameAnswer(a, b string) bool { return sameAnswer(a, b, false) }

// sameAnswer reports whether two answers say the same: the same words and numbers, whatever their
// case, spaces, quotes and brackets. A number may be rounded to fewer decimals than the other, but
// to one at least. inOrder says that the order of the items of a list matters.
func sameAnswer(a, b string, inOrder bool) bool {
	x, y := itemsOf(compactJSON(a)), itemsOf(compactJSON(b))
	if len(x) != len(y) || len(x) == 0 {
		return false
	}
	if slices.EqualFunc(x, y, sameItem) {
		return true
	}
	if inOrder {
		return false
	}
	for _, item := range x {
		i := slices.IndexFunc(y, func(other string) bool { return sameItem(item, other) })
		if i < 0 {
			return false
		}
		y = slices.Delete(y, i, i+1)
	}
	return true
}

// compactJSON returns a JSON object or list without line breaks and with sorted names, and other
// texts as they are.
func compactJSON(text string) string {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return text
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil || d.More() {
		return text
	}
	compact, err := json.Marshal(value)
	if err != nil {
		return text
	}
	return string(compact)
}

var (
	thousandsMark = lazy.Regexp(`(\d),(\d{3})\b`)
	itemMark      = lazy.Regexp(`[,;\n|]`)
	number        = lazy.Regexp(`^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$`)
)

// itemsOf splits an answer at commas, semicolons, bars and line breaks.
func itemsOf(answer string) (items []string) {
	// 1,234,567 needs two passes, as matches do not overlap
	if !strings.ContainsAny(answer, "[({;") {
		for range 2 {
			answer = thousandsMark().ReplaceAllString(answer, "$1$2")
		}
	}
	for _, item := range itemMark().Split(answer, -1) {
		item = strings.ToLower(strings.Join(strings.Fields(item), " "))
		item = strings.TrimFunc(item, func(c rune) bool {
			return unicode.IsSpace(c) || strings.ContainsRune("[](){}\"'`“”‘’.", c)
		})
		if item != "" {
			items = append(items, item)
		}
	}
	return items
}

// sameItem compares two items word by word.
func sameItem(a, b string) bool {
	return slices.EqualFunc(wordsOf(a), wordsOf(b), func(x, y string) bool {
		return x == y || sameNumber(x, y)
	})
}

// wordsOf splits an item at spaces and colons, and percent and currency signs from numbers.
func wordsOf(item string) []string {
	return strings.FieldsFunc(item, func(c rune) bool {
		return unicode.IsSpace(c) || strings.ContainsRune(":=[](){}\"'%$€£", c)
	})
}

func sameNumber(a, b string) bool {
	if !number().MatchString(a) || !number().MatchString(b) {
		return false
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX != nil || errY != nil {
		return false
	}
	if math.Abs(x-y) <= 1e-9*max(math.Abs(x), math.Abs(y)) {
		return true
	}
	places := min(decimals(a), decimals(b))
	if places < 1 {
		return false
	}
	// half a unit of the last place, and what floating point adds
	return math.Abs(x-y) <= 0.5*math.Pow10(-places)*(1+1e-9)
}

// decimals returns the number of digits after a number's point; 0 for one with an exponent.
func decimals(number string) int {
	if strings.ContainsAny(number, "eE") {
		return 0
	}
	_, fraction, _ := strings.Cut(number, ".")
	return len(fraction)
}

var orderWord = lazy.Regexp(
	`(?i)\b(?:order(?:ed)?\s+(?:by|of)|in\s+\w+\s+order|sort(?:ed)?|rank(?:ed|ing)?|ascending|descending|` +
		`from\s+(?:the\s+)?(?:highest|lowest|largest|smallest|oldest|newest|most|least)|chronological\w*|alphabetical\w*)\b`,
)

// inOrder reports whether question or form ask for an order of the answer's items.
func (r *standard) inOrder() bool {
	return orderWord().MatchString(r.t.Task.Question + "\n" + r.t.Task.Guidelines)
}
