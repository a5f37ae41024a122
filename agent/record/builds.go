package record

import (
	"maps"
	"strings"

	"dsstar/notebook/lazy"
)

// BuildsOn returns the indexes of the earlier questions on which the last part builds, the nearest
// first: its cells read a name that the cells of that question give, or a file that they name; or a
// question between them does. What the code does not tell counts as read.
func (t *Trajectory) BuildsOn() (on []int) {
	reads, _ := flow(codes(t.own()))
	for k := len(t.Earlier) - 1; k >= 0; k-- {
		its, gives := flow(codes(t.Part(k).own()))
		found := false
		for name, replaces := range gives {
			if found = found || reads[name]; replaces {
				delete(reads, name) // an earlier one is lost
			}
		}
		if found {
			on = append(on, k)
			maps.Copy(reads, its)
		}
	}
	return on
}

// flow returns the names and files that cells read before they give them, and those that they give:
// true if that replaces what was there.
func flow(cells []string) (reads, gives map[string]bool) {
	reads, gives = map[string]bool{}, map[string]bool{}
	code := strings.Join(cells, "\n")
	for _, m := range literal().FindAllStringSubmatchIndex(code, -1) {
		if m[4] < 0 {
			continue // a comment
		}
		name := strings.TrimPrefix(strings.Trim(code[m[4]:m[5]], `"'`), "./")
		if !fileLike().MatchString(name) || strings.HasPrefix(name, "data/") {
			continue
		}
		gives[name] = false
		if !writes().MatchString(code[:m[0]]) && !writing().MatchString(code[m[1]:]) {
			reads[name] = true
		}
	}
	own, inner := map[string]bool{}, map[string]bool{} // names that are given by now, and in this block
	for _, line := range statements(code) {
		indented := strings.TrimLeft(line, " \t") != line
		if !indented {
			clear(inner)
		}
		s := parseLine(line)
		for _, name := range s.reads {
			reads[name] = reads[name] || !own[name] && !inner[name] && !s.hides[name]
		}
		for _, name := range s.changes {
			if _, given := gives[name]; !given {
				gives[name] = false
			}
		}
		for _, name := range s.gives {
			gives[name] = gives[name] || !indented
			own[name], inner[name] = own[name] || !indented, true
		}
		maps.Copy(inner, s.hides)
	}
	return reads, gives
}

var (
	// literal matches a comment, or a string with its prefix.
	literal = lazy.Regexp(`(?s)#[^\n]*|([fFrRbBuUtT]{0,2})("""(?:[^\\]|\\.)*?"""|'''(?:[^\\]|\\.)*?'''|` +
		`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')`)
	inBraces = lazy.Regexp(`\{([^{}]*)\}?`) // of an f-string
	fileLike = lazy.Regexp(`^[^\s*?]{1,200}\.[A-Za-z]\w{1,7}$`)
	writes   = lazy.Regexp(`(?:\.to_\w+|savefig|dump\w*|write\w*)\(\s*$`) // stands before the name
	writing  = lazy.Regexp(`^\s*,\s*(?:mode\s*=\s*)?["'][wxa]`)           // stands after it
)

// statements returns the statements of Python code, of strings only the code in them.
func statements(code string) (all []string) {
	code = literal().ReplaceAllStringFunc(code, func(s string) string {
		text := `""`
		if m := literal().FindStringSubmatch(s); strings.ContainsAny(m[1], "fF") {
			for _, inner := range inBraces().FindAllStringSubmatch(m[2], -1) {
				text += ", " + strings.ReplaceAll(inner[1], "\n", " ")
			}
		}
		return "(" + text + ")"
	})
	line, depth := "", 0
	for part := range strings.Lines(code) {
		line += strings.TrimRight(part, "\n\\")
		depth = max(0, depth+count(part, "([{")-count(part, ")]}"))
		if depth == 0 && !strings.HasSuffix(part, "\\\n") {
			all, line = append(all, line), ""
		}
	}
	return append(all, line)
}

func count(text, marks string) (n int) {
	for _, c := range text {
		if strings.ContainsRune(marks, c) {
			n++
		}
	}
	return n
}

// A statement is what the names in a line of Python code are to it.
type statement struct {
	reads, gives []string
	changes      []string        // in place
	hides        map[string]bool // arguments, and names within a comprehension
}

var (
	identifier = lazy.Regexp(`[\pL_][\pL\pN_]*`)
	ownNames   = lazy.Regexp(`\bfor\s+([^:]*?)\s+in\b|\blambda\s+([^:]*):|^\s*def\s+\w+\s*\((.*)\)`)
	named      = lazy.Regexp(`\bas\s+([\pL_][\pL\pN_]*)|^\s*(?:def|class)\s+([\pL_][\pL\pN_]*)|^\s*for\s+(.*?)\s+in\b`)
	imports    = lazy.Regexp(`^\s*(?:import|from)\s`)
)

func parseLine(line string) (s statement) {
	s.hides = map[string]bool{}
	if imports().MatchString(line) {
		return s
	}
	for _, m := range named().FindAllStringSubmatch(line, -1) {
		s.gives = append(s.gives, identifier().FindAllString(strings.Join(m[1:], " "), -1)...)
		s.hides[m[1]] = true
	}
	for _, m := range ownNames().FindAllStringSubmatch(line, -1) {
		for _, name := range identifier().FindAllString(strings.Join(m[1:], " "), -1) {
			s.hides[name] = true
		}
	}
	for {
		target, rest, ok := assignment(line)
		if !ok {
			break
		}
		target, _, _ = strings.Cut(target, ":") // of its type
		switch all := identifier().FindAllString(target, -1); {
		case strings.ContainsAny(target, ".["):
			s.reads, s.changes = append(s.reads, all...), append(s.changes, all[:min(1, len(all))]...)
		default:
			s.gives = append(s.gives, all...)
		}
		line = rest
	}
	for _, at := range identifier().FindAllStringIndex(line, -1) {
		after := strings.TrimLeft(line[at[1]:], " ")
		keyword := strings.HasPrefix(after, "=") && !strings.HasPrefix(after, "==")
		if !keyword && !strings.HasSuffix(strings.TrimRight(line[:at[0]], " "), ".") {
			s.reads = append(s.reads, line[at[0]:at[1]])
		}
	}
	return s
}

// assignment splits a statement at its first sign of assignment.
func assignment(line string) (target, rest string, ok bool) {
	depth := 0
	for i, c := range line {
		switch {
		case strings.ContainsRune("([{", c):
			depth++
		case strings.ContainsRune(")]}", c):
			depth--
		case c == '=' && depth == 0 && i > 0 && !strings.HasPrefix(line[i+1:], "=") &&
			!strings.ContainsRune("=!<>+-*/%&|^:@", rune(line[i-1])):
			return line[:i], line[i+1:], true
		}
	}
	return "", "", false
}
