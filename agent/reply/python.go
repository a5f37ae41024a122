package reply

import (
	"slices"
	"strings"

	"dsstar/notebook/lazy"
)

// This file tells Python from talk where a reply does not. It need not know all
// of Python: what it is not sure of is not code.

// A token is a word, a number, a string or a sign of Python. Its text is that of a word or
// sign; "0" stands for a number and "'" for a string.
type token struct {
	text   string
	spaced bool // a space stands before it
}

// A statement is the tokens of one logical line.
type statement struct {
	indent int
	tokens []token
}

// statements splits code into statements. ok is false if the code ends within a string or
// brackets, or has signs that Python does not have.
func statements(code string) (all []statement, ok bool) {
	s := scanner{code: code}
	for s.at < len(code) {
		s.line()
	}
	return s.all, !s.bad && s.depth == 0
}

// endsInString reports whether code ends within a triple-quoted string.
func endsInString(code string) bool {
	s := scanner{code: code}
	for s.at < len(code) {
		s.line()
	}
	return s.cut
}

type scanner struct {
	code  string
	at    int
	all   []statement
	depth int  // of brackets
	goes  bool // the next line goes on with the statement
	bad   bool // something that Python does not have
	cut   bool // it ended within a string of several lines
}

// line reads a line and the rest of any string that begins in it.
func (s *scanner) line() {
	start := s.at
	for s.at < len(s.code) && (s.code[s.at] == ' ' || s.code[s.at] == '\t') {
		s.at++
	}
	first, indent := !s.goes && s.depth == 0, s.at-start
	s.goes = false
	for s.at < len(s.code) {
		c := s.code[s.at]
		switch {
		case c == '\n':
			s.at++
			return
		case c == ' ' || c == '\t':
			s.at++
			continue
		case c == '#':
			if end := strings.IndexByte(s.code[s.at:], '\n'); end >= 0 {
				s.at += end
			} else {
				s.at = len(s.code)
			}
			continue
		case c == '\\' && s.at+1 < len(s.code) && s.code[s.at+1] == '\n':
			s.at += 2
			s.goes = true
			return
		}
		if first {
			s.all, first = append(s.all, statement{indent: indent}), false
		}
		s.token(s.at > 0 && strings.IndexByte(" \t\n", s.code[s.at-1]) >= 0)
	}
}

// token reads one token and adds it to the last statement.
func (s *scanner) token(spaced bool) {
	start, c := s.at, s.code[s.at]
	text := "'"
	switch {
	case isWord(c):
		for s.at < len(s.code) && (isWord(s.code[s.at]) || isDigit(c) && s.code[s.at] == '.') {
			s.at++
		}
		word := s.code[start:s.at]
		switch {
		case s.at < len(s.code) && strings.IndexByte(`"'`, s.code[s.at]) >= 0 &&
			strings.Trim(strings.ToLower(word), "rbfu") == "":
			s.text()
		case isDigit(c):
			text = "0"
		default:
			text = word
		}
	case c == '"' || c == '\'':
		s.text()
	default:
		s.at++
		text = string(c)
		switch {
		case strings.IndexByte("([{", c) >= 0:
			s.depth++
		case strings.IndexByte(")]}", c) >= 0:
			s.depth--
		case c == '!' && s.at < len(s.code) && s.code[s.at] == '=':
		case strings.IndexByte("=+-*/%<>&|^~@,.:;", c) < 0:
			s.bad = true
		}
		s.bad = s.bad || s.depth < 0
	}
	if n := len(s.all); n > 0 {
		s.all[n-1].tokens = append(s.all[n-1].tokens, token{text, spaced})
	}
}

// text reads a string from its quote.
func (s *scanner) text() {
	quote := s.code[s.at : s.at+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(s.code[s.at:], triple) {
		quote = triple
	}
	for s.at += len(quote); s.at < len(s.code); s.at++ {
		switch {
		case s.code[s.at] == '\\':
			s.at++
		case len(quote) == 1 && s.code[s.at] == '\n':
			s.bad = true
			return
		case strings.HasPrefix(s.code[s.at:], quote):
			s.at += len(quote)
			return
		}
	}
	s.at, s.bad, s.cut = len(s.code), true, len(quote) == 3
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isWord(c byte) bool {
	return isDigit(c) || c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

const (
	pyBlocks  = " if elif else for while def class with try except finally async "
	pySimple  = " import from return raise assert pass break continue del global nonlocal yield await "
	pyBetween = " and or not in is if else for lambda await async yield from as import True False None "
)

func among(words, word string) bool { return strings.Contains(words, " "+word+" ") }

// isPython reports whether a text is Python and nothing else: every statement
// has the form of one, which no sentence has, and one of them does something.
func isPython(code string) bool {
	all, ok := statements(code)
	if !ok || len(all) == 0 || all[0].indent > 0 {
		return false
	}
	does := false
	for i, s := range all {
		opens := s.opens()
		if opens && (i+1 == len(all) || all[i+1].indent <= s.indent) {
			last := s.tokens[len(s.tokens)-1].text
			if last == ":" {
				return false // cut
			}
		}
		if !opens && i+1 < len(all) && all[i+1].indent > s.indent {
			return false
		}
		if doc := len(s.tokens) == 1 && s.tokens[0].text == "'"; doc && (i == 0 || all[i-1].opens()) {
			continue
		}
		if s.runsOn() || !opens && !s.isSimple() {
			return false
		}
		does = does || !opens && !among(" pass break continue return ", s.tokens[0].text) ||
			among(" def class ", s.tokens[0].text)
	}
	return does
}

// opens reports whether a statement begins a block.
func (s statement) opens() bool {
	if !among(pyBlocks, s.tokens[0].text) {
		return false
	}
	return slices.ContainsFunc(s.tokens, func(t token) bool { return t.text == ":" })
}

// isSimple reports whether a statement is an import, an assignment, a call, or begins with a
// keyword of another simple statement.
func (s statement) isSimple() bool {
	first, last := s.tokens[0], s.tokens[len(s.tokens)-1]
	depth, assigns, colon := 0, false, false
	for i, t := range s.tokens {
		switch t.text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		case "=":
			assigns = assigns || depth == 0 && i > 0 && i+1 < len(s.tokens)
		case ":":
			colon = colon || depth == 0
		case "lambda":
			assigns = assigns || i > 0 && depth == 0
		}
	}
	switch {
	case among(" pass break continue return ", first.text) && len(s.tokens) == 1,
		first.text == "@" && len(s.tokens) > 1:
		return true
	case strings.Contains("=+-*/%<>&|^~@,.:", last.text):
		return false
	case assigns:
		return true
	case colon:
		return false
	case first.text == "from":
		return slices.ContainsFunc(s.tokens, func(t token) bool { return t.text == "import" })
	case among(pySimple, first.text):
		return len(s.tokens) > 1
	}
	return last.text == ")" && s.calls()
}

// calls reports whether a bracket follows a name directly, as in a call.
func (s statement) calls() bool {
	for i, t := range s.tokens[1:] {
		if before := s.tokens[i].text; t.text == "(" && !t.spaced &&
			(isWord(before[0]) && !isDigit(before[0]) || strings.Contains(")]", before)) {
			return true
		}
	}
	return false
}

// runsOn reports whether two operands follow each other, as the words of a sentence do. In
// Python only keywords and strings do.
func (s statement) runsOn() bool {
	for i, t := range s.tokens[1:] {
		before := s.tokens[i].text
		operand := isOperand(t.text) && !among(pyBetween, t.text)
		left := isOperand(before) || strings.Contains(")]}", before)
		switch {
		case !operand || !left || before == "'" && t.text == "'":
		case among(pyBetween, before) && !among(" True False None ", before):
		case i == 0 && (among(pyBlocks, before) || among(pySimple, before)):
		case i == 1 && s.tokens[0].text == "async":
		default:
			return true
		}
	}
	return false
}

func isOperand(text string) bool { return text == "'" || isWord(text[0]) }

var (
	pyName   = lazy.Regexp(`[A-Za-z_]\w*`)
	pyImport = lazy.Regexp(`(?m)^[ \t]*(?:from[ \t]+\S+[ \t]+)?import[ \t]+(.+)$`)
	pyAssign = lazy.Regexp(`(?m)^[ \t]*([A-Za-z_][\w, \t]*?)[ \t]*(?::[^=\n]+)?=(?:[^=]|$)`)
	pyOthers = lazy.Regexp(
		`\b(?:def|class|as)[ \t]+(\w+)|\bfor[ \t]+([\w, \t()]+?)[ \t]+in\b|(\w+)[ \t]*:=`,
	)
)

// boundNames returns the names that code assigns, judged by its lines.
func boundNames(code string) map[string]bool {
	names := map[string]bool{}
	for _, m := range pyImport().FindAllStringSubmatch(code, -1) {
		for _, part := range strings.Split(strings.Trim(m[1], "()"), ",") {
			if words := pyName().FindAllString(part, -1); len(words) > 0 {
				names[words[0]] = true
			}
		}
	}
	for _, pattern := range []func() [][]string{
		func() [][]string { return pyAssign().FindAllStringSubmatch(code, -1) },
		func() [][]string { return pyOthers().FindAllStringSubmatch(code, -1) },
	} {
		for _, m := range pattern() {
			for _, name := range pyName().FindAllString(strings.Join(m[1:], " "), -1) {
				names[name] = true
			}
		}
	}
	return names
}

// namesIn returns all words of code.
func namesIn(code string) map[string]bool {
	names := map[string]bool{}
	for _, name := range pyName().FindAllString(code, -1) {
		names[name] = true
	}
	return names
}

// linesOf returns the lines of code that are not empty, without their indents.
func linesOf(code string) map[string]bool {
	lines := map[string]bool{}
	for line := range strings.Lines(code) {
		if line = strings.TrimSpace(line); line != "" {
			lines[line] = true
		}
	}
	return lines
}
