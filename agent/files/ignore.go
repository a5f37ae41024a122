package files

import (
	"regexp"
	"strings"
)

// An ignoreFile is a .gitignore. The user's global file, .git/info/exclude and the files that
// git tracks although they match are not considered.
type ignoreFile struct {
	folder string // its folder, below the data folder
	top    bool   // at the root of its repository: files above it do not apply
	rules  []ignoreRule
}

// An ignoreRule is one line of a .gitignore.
type ignoreRule struct {
	pattern *regexp.Regexp // matches names relative to the file's folder
	folders bool           // matches folders only
	negated bool           // re-includes what earlier rules ignore
}

// ignored reports whether the last matching rule ignores a name. The caller must check its
// parent folders.
func ignored(files []ignoreFile, name string, folder bool) bool {
	for i := len(files) - 1; i >= 0; i-- {
		f := files[i]
		own := strings.TrimPrefix(strings.TrimPrefix(name, f.folder), "/")
		for n := len(f.rules) - 1; n >= 0; n-- {
			if r := f.rules[n]; (folder || !r.folders) && r.pattern.MatchString(own) {
				return !r.negated
			}
		}
		if f.top {
			break
		}
	}
	return false
}

// ignoreRules reads a .gitignore. Lines that are invalid for git are skipped.
func ignoreRules(content []byte) []ignoreRule {
	var rules []ignoreRule
	for line := range strings.Lines(strings.TrimPrefix(string(content), "\uFEFF")) {
		line = withoutTrailingSpaces(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
		if line == "" || line[0] == '#' {
			continue
		}
		var r ignoreRule
		line, r.negated = strings.CutPrefix(line, "!")
		line, r.folders = strings.CutSuffix(line, "/")
		if !strings.Contains(line, "/") {
			line = "**/" + line
		}
		var err error
		if r.pattern, err = regexp.Compile(`(?s)^` + ignorePattern(strings.TrimPrefix(line, "/")) + `$`); err == nil {
			rules = append(rules, r)
		}
	}
	return rules
}

func withoutTrailingSpaces(line string) string {
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	return line
}

// ignorePattern converts a line to a regular expression.
func ignorePattern(glob string) string {
	var b strings.Builder
	for i := 0; i < len(glob); {
		rest := glob[i:]
		start := i == 0 || glob[i-1] == '/'
		switch {
		case start && strings.HasPrefix(rest, "**/"):
			b.WriteString("(?:.*/)?")
			i += 3
		case start && rest == "**":
			b.WriteString(".+")
			i += 2
		case rest[0] == '*':
			b.WriteString("[^/]*")
			i += len(rest) - len(strings.TrimLeft(rest, "*"))
		case rest[0] == '?':
			b.WriteString("[^/]")
			i++
		case rest[0] == '[':
			class, n := ignoreClass(rest)
			b.WriteString(class)
			i += n
		default:
			if rest[0] == '\\' && len(rest) > 1 {
				rest = rest[1:]
				i++
			}
			n := len(rest) - len(strings.TrimLeftFunc(rest,
				func(c rune) bool { return !strings.ContainsRune(`*?[\/`, c) }))
			n = max(1, n) // an escaped character is literal
			b.WriteString(regexp.QuoteMeta(rest[:n]))
			i += n
		}
	}
	return b.String()
}

// ignoreClass converts the character class at the start of glob to a regular expression, and
// returns its length in glob. An unclosed class matches nothing.
func ignoreClass(glob string) (class string, length int) {
	var b strings.Builder
	b.WriteByte('[')
	i := 1
	if strings.HasPrefix(glob[i:], "!") || strings.HasPrefix(glob[i:], "^") {
		b.WriteString("^/")
		i++
	}
	for first := i; i < len(glob); i++ {
		c := glob[i]
		if c == ']' && i > first {
			return b.String() + "]", i + 1
		}
		if named := posixClass.FindString(glob[i:]); named != "" {
			b.WriteString(named)
			i += len(named) - 1
			continue
		}
		escaped := c == '\\' && i+1 < len(glob)
		if escaped {
			i++
			c = glob[i]
		}
		if strings.IndexByte(`\[]^&~`, c) >= 0 || escaped && c == '-' {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return `\z.`, len(glob)
}

var posixClass = regexp.MustCompile(`^\[:[a-z]+:\]`)
