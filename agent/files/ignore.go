package files

import (
	"regexp"
	"strings"
)

// An ignoreFile is a .gitignore. Those of a user, of .git/info and what git tracks
// in spite of them do not count.
type ignoreFile struct {
	folder string // that it is in, below the data folder
	top    bool   // of its repository: those of folders above it do not count
	rules  []ignoreRule
}

// An ignoreRule is one line of a .gitignore.
type ignoreRule struct {
	pattern *regexp.Regexp // of a name below the folder of the file
	folders bool           // it is for folders only
	negated bool           // it takes back what lines before it name
}

// ignored reports whether the last rule that fits a name leaves it out. That a
// folder which it is in is left out is for the caller to know.
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

// ignoreRules reads a .gitignore. A line that git would not understand counts for
// nothing.
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

// ignorePattern makes a regular expression of a line.
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
			n = max(1, n) // what is escaped stands for itself
			b.WriteString(regexp.QuoteMeta(rest[:n]))
			i += n
		}
	}
	return b.String()
}

// ignoreClass makes a regular expression of a class of characters at the start of
// glob, and says how long it is there. One without an end fits nothing.
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
