package bench

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A value is one of Python's that a JSON text or a literal stands for: nil, bool,
// *big.Int, float64, string, []value, or a dict as []pair.
type value any

type pair struct{ key, val value }

// parseJSON is json.loads(s); parseLiteral, eval(s) of a literal. What is no
// literal, such as a sum, eval would work out and this refuses.
func parseJSON(s string) (value, error)    { return parseValue(s, true) }
func parseLiteral(s string) (value, error) { return parseValue(s, false) }

func parseValue(s string, json bool) (value, error) {
	if !utf8.ValidString(s) {
		return nil, fmt.Errorf("not UTF-8")
	}
	p := &valueParser{text: s, json: json}
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	p.space()
	if !json && strings.HasPrefix(p.text, ",") { // a bare tuple
		list := []value{v}
		for strings.HasPrefix(p.text, ",") {
			p.text = p.text[1:]
			if p.space(); p.text == "" {
				break
			}
			if v, err = p.value(0); err != nil {
				return nil, err
			}
			list = append(list, v)
			p.space()
		}
		v = list
	}
	if p.text != "" {
		return nil, fmt.Errorf("unexpected %.20q", p.text)
	}
	return v, nil
}

type valueParser struct {
	text string
	json bool
}

func (p *valueParser) space() { p.text = strings.TrimLeft(p.text, " \t\r\n\f") }

func (p *valueParser) value(depth int) (value, error) {
	p.space()
	if depth > 200 {
		return nil, fmt.Errorf("nested too deep")
	}
	if p.text == "" {
		return nil, fmt.Errorf("unexpected end")
	}
	switch c := p.text[0]; {
	case c == '[' || c == '{':
		return p.collection(c, depth)
	case c == '(' && !p.json:
		return p.collection(c, depth)
	case c == '"' || c == '\'' && !p.json:
		return p.str(c)
	case unicode.IsLetter(rune(c)):
		return p.word()
	}
	return p.number()
}

func (p *valueParser) word() (value, error) {
	words := map[string]value{"None": nil, "True": true, "False": false}
	if p.json {
		words = map[string]value{"null": nil, "true": true, "false": false, "NaN": math.NaN(), "Infinity": math.Inf(1)}
	}
	for word, v := range words {
		if rest, ok := strings.CutPrefix(p.text, word); ok && (rest == "" || !unicode.IsLetter(rune(rest[0]))) {
			p.text = rest
			return v, nil
		}
	}
	return nil, fmt.Errorf("unexpected %.20q", p.text)
}

func (p *valueParser) number() (value, error) {
	n := strings.IndexFunc(p.text, func(r rune) bool { return !strings.ContainsRune("+-.0123456789eE_", r) })
	if n < 0 {
		n = len(p.text)
	}
	text := p.text[:n]
	p.text = p.text[n:]
	if p.json && text == "-" && strings.HasPrefix(p.text, "Infinity") {
		p.text = p.text[len("Infinity"):]
		return math.Inf(-1), nil
	}
	if p.json && strings.ContainsAny(text, "_") || p.json && strings.HasPrefix(text, "+") {
		return nil, fmt.Errorf("not a number: %q", text)
	}
	digits := strings.TrimLeft(text, "+-")
	zeros := !p.json && strings.Trim(digits, "0") == "" // 00 is one of Python's, 07 is not
	if i, ok := new(big.Int).SetString(text, 10); ok && (len(digits) == 1 || digits[0] != '0' || zeros) {
		return i, nil
	}
	f, ok := pyFloat(text)
	if !ok || !strings.ContainsAny(text, ".eE") {
		return nil, fmt.Errorf("not a number: %q", text)
	}
	return f, nil
}

func (p *valueParser) collection(open byte, depth int) (value, error) {
	end := map[byte]string{'[': "]", '{': "}", '(': ")"}[open]
	p.text = p.text[1:]
	list, dict := []value{}, []pair{}
	isDict := open == '{' // until an item says that it is a set
	comma := false
	for {
		p.space()
		if rest, ok := strings.CutPrefix(p.text, end); ok {
			p.text = rest
			if p.json && comma {
				return nil, fmt.Errorf("a comma before %s", end)
			}
			break
		}
		if len(list)+len(dict) > 0 && !comma {
			return nil, fmt.Errorf("unexpected %.20q", p.text)
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		p.space()
		if rest, ok := strings.CutPrefix(p.text, ":"); ok && open == '{' {
			p.text = rest
			of, err := p.value(depth + 1)
			if err != nil {
				return nil, err
			}
			dict = append(dict, pair{v, of})
		} else if open == '{' && p.json {
			return nil, fmt.Errorf("a key without a value")
		} else {
			list, isDict = append(list, v), false
		}
		p.space()
		p.text, comma = strings.CutPrefix(p.text, ",")
	}
	if isDict {
		return dict, nil
	}
	if open == '(' && len(list) == 1 && !comma {
		return list[0], nil // only brackets
	}
	return list, nil
}

func (p *valueParser) str(quote byte) (value, error) {
	var out strings.Builder
	rest := p.text[1:]
	for rest != "" {
		c := rest[0]
		switch {
		case c == quote:
			p.text = rest[1:]
			return out.String(), nil
		case c == '\\':
			var err error
			if rest, err = p.escape(rest[1:], &out); err != nil {
				return nil, err
			}
		case c < ' ' && (p.json || c == '\n'):
			return nil, fmt.Errorf("a line break in text")
		default:
			out.WriteByte(c)
			rest = rest[1:]
		}
	}
	return nil, fmt.Errorf("text that does not end")
}

func (p *valueParser) escape(rest string, out *strings.Builder) (string, error) {
	if rest == "" {
		return "", fmt.Errorf("text that does not end")
	}
	c := rest[0]
	if i := strings.IndexByte(`"\/bfnrt'`, c); i >= 0 {
		if p.json && c == '\'' {
			return "", fmt.Errorf("no such escape")
		}
		if !p.json && c == '/' {
			out.WriteByte('\\')
		}
		out.WriteByte("\"\\/\b\f\n\r\t'"[i])
		return rest[1:], nil
	}
	n := map[byte]int{'u': 4, 'x': 2, 'U': 8}[c]
	if n == 0 || p.json && c != 'u' || len(rest) <= n {
		if p.json {
			return "", fmt.Errorf("no such escape")
		}
		out.WriteByte('\\')
		return rest, nil
	}
	code, err := strconv.ParseUint(rest[1:1+n], 16, 32)
	if err != nil {
		return "", err
	}
	rest = rest[1+n:]
	if p.json && code >= 0xd800 && code < 0xdc00 && strings.HasPrefix(rest, `\u`) && len(rest) >= 6 {
		if low, err := strconv.ParseUint(rest[2:6], 16, 32); err == nil && low >= 0xdc00 && low < 0xe000 {
			code, rest = 0x10000+(code-0xd800)<<10+(low-0xdc00), rest[6:]
		}
	}
	out.WriteRune(rune(code))
	return rest, nil
}

// pyStr is str(v).
func pyStr(v value) string {
	if s, ok := v.(string); ok {
		return s
	}
	return pyReprOf(v)
}

// pyReprOf is repr(v).
func pyReprOf(v value) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case *big.Int:
		return v.String()
	case float64:
		return pyRepr(v)
	case string:
		return pyQuote(v)
	case []value:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = pyReprOf(item)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case []pair:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = pyReprOf(item.key) + ": " + pyReprOf(item.val)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprint(v)
}

func pyQuote(s string) string {
	quote := "'"
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = `"`
	}
	var out strings.Builder
	out.WriteString(quote)
	for _, r := range s {
		switch {
		case string(r) == quote || r == '\\':
			out.WriteString(`\` + string(r))
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\r':
			out.WriteString(`\r`)
		case r == '\t':
			out.WriteString(`\t`)
		case r == ' ' || unicode.IsPrint(r):
			out.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&out, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			fmt.Fprintf(&out, `\U%08x`, r)
		}
	}
	return out.String() + quote
}

// number is v where Python's arithmetic takes it: a bool is 0 or 1.
func number(v value) (f float64, ok bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case *big.Int:
		f, _ := new(big.Float).SetInt(v).Float64()
		return f, true
	case float64:
		return v, true
	}
	return 0, false
}

// pyEqual is a == b.
func pyEqual(a, b value) bool {
	x, xOK := number(a)
	if y, ok := number(b); ok || xOK {
		return ok && xOK && x == y
	}
	switch a := a.(type) {
	case nil:
		return b == nil
	case string:
		s, ok := b.(string)
		return ok && a == s
	case []value:
		list, ok := b.([]value)
		if !ok || len(a) != len(list) {
			return false
		}
		for i := range a {
			if !pyEqual(a[i], list[i]) {
				return false
			}
		}
		return true
	}
	return false
}

// each is what iterating over v gives; ok is false where that raises.
func each(v value) (items []value, ok bool) {
	switch v := v.(type) {
	case []value:
		return v, true
	case string:
		for _, r := range v {
			items = append(items, string(r))
		}
		return items, true
	case []pair:
		for _, p := range v {
			items = append(items, p.key)
		}
		return items, true
	}
	return nil, false
}
