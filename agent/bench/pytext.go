package bench

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// What follows is Python's own behaviour, on which scores of the public code
// depend: text methods, float(), repr(), round() and math.isclose().

// pySpace is what str.strip() takes away.
func pySpace(r rune) bool {
	return unicode.IsSpace(r) || (r >= 0x1c && r <= 0x1f)
}

func pyStrip(s string) string { return strings.TrimFunc(s, pySpace) }

// pyLower is str.lower().
func pyLower(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return cases.Lower(language.Und).String(s)
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0
}

// pyWord is \w.
const pyWord = `[\p{L}\p{N}_]`

var notWord = regexp.MustCompile(`[^\p{L}\p{N}_]`)

// asciiDigits writes the decimal digits of all scripts as 0 to 9, as float()
// reads them.
func asciiDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 || !unicode.Is(unicode.Nd, r) {
			return r
		}
		for _, ranges := range unicode.Nd.R16 {
			if lo, hi := rune(ranges.Lo), rune(ranges.Hi); r >= lo && r <= hi {
				return '0' + (r-lo)%10
			}
		}
		for _, ranges := range unicode.Nd.R32 {
			if lo, hi := rune(ranges.Lo), rune(ranges.Hi); r >= lo && r <= hi {
				return '0' + (r-lo)%10
			}
		}
		return r
	}, s)
}

var pyFloatForm = regexp.MustCompile(`(?i)^[+-]?(?:(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:e[+-]?\d+(?:_\d+)*)?|inf|infinity|nan)$`)

// pyFloat is float(s); ok is whether it does not raise.
func pyFloat(s string) (f float64, ok bool) {
	if isASCII(s) {
		s = strings.Trim(s, " \t\n\v\f\r") // for ASCII text, C's idea of blanks
	} else {
		s = asciiDigits(pyStrip(s))
	}
	if !pyFloatForm.MatchString(s) {
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	if err != nil && !math.IsInf(f, 0) { // too large is infinite, in Python too
		return 0, false
	}
	return f, true
}

// pyRepr is repr(f), which is str(f).
func pyRepr(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case f == 0:
		if math.Signbit(f) {
			return "-0.0"
		}
		return "0.0"
	}
	if size := math.Abs(f); size < 1e16 && size >= 1e-4 {
		s := strconv.FormatFloat(f, 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	}
	return strconv.FormatFloat(f, 'e', -1, 64) // two digits of exponent at least, as Python's
}

// pyRound is round(f, n): to the nearest decimal, an exact tie to the even one.
func pyRound(f float64, n int) float64 {
	if f == 0 || math.IsNaN(f) || math.IsInf(f, 0) || n > 323 {
		return f
	}
	if n >= 0 {
		g, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'f', n, 64), 64)
		return g
	}
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-n)), nil)
	whole, exact := big.NewFloat(math.Abs(f)).Int(nil)
	units, rest := new(big.Int).QuoRem(whole, unit, new(big.Int))
	half := rest.Lsh(rest, 1).Cmp(unit)
	if half > 0 || half == 0 && (exact != big.Exact || units.Bit(0) == 1) {
		units.Add(units, big.NewInt(1))
	}
	g, _ := new(big.Float).SetInt(units.Mul(units, unit)).Float64()
	return math.Copysign(g, f)
}

// isClose is math.isclose(a, b, rel_tol=rel, abs_tol=abs).
func isClose(a, b, rel, abs float64) bool {
	if a == b {
		return true
	}
	if math.IsInf(a, 0) || math.IsInf(b, 0) {
		return false
	}
	diff := math.Abs(b - a)
	return diff <= math.Abs(rel*b) || diff <= math.Abs(rel*a) || diff <= abs
}
