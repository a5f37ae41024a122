package record

import (
	"maps"
	"slices"
	"strings"

	"dsstar/notebook/lazy"
)

// BuildsOn returns the indexes of the earlier questions on which the last part may build, the
// nearest first. It may build on a question if its cells mention a name that the cells of that
// question bind or can change, and do not bind it themselves before; if they can read a file, and
// those can write one; or if a question between them may. What the code leaves open counts; only
// what stays in a module, such as an option, does not.
func (t *Trajectory) BuildsOn() []int { return t.buildOn(t.OwnCells()) }

// buildOn is BuildsOn for other cells than those of the last part.
func (t *Trajectory) buildOn(cells []string) (on []int) {
	modules := imports().FindAllString(strings.Join(t.Cells(), "\n"), -1)
	modules = identifier().FindAllString(strings.Join(modules, "\n"), -1)
	reads, _ := flow(cells, modules)
	for k := len(t.Earlier) - 1; k >= 0; k-- {
		its, gives := flow(t.Part(k).OwnCells(), modules)
		_, found := gives[anything]
		for name, replaces := range gives {
			if found = found || reads[name] || reads[anything]; replaces {
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

// What cells can read and give beside names.
const anything, aFile = "*", "/"

// flow returns what cells can read that they have not bound before, and what they can give: true if
// that replaces what was there.
func flow(cells, modules []string) (reads, gives map[string]bool) {
	code := strings.Join(cells, "\n")
	reads, gives = map[string]bool{}, map[string]bool{}
	if hides().MatchString(code) {
		reads[anything], gives[anything] = true, false
	}
	if writes().MatchString(code) {
		gives[aFile] = false
	}
	for _, at := range opens().FindAllStringIndex(code, -1) {
		reads[aFile] = reads[aFile] || !ofData().MatchString(code[at[1]:])
	}
	own := map[string]int{} // the names that are bound by now, and how far indented
	for _, line := range statements(code) {
		text := strings.TrimSpace(line)
		if text == "" || imports().MatchString(text) {
			continue
		}
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		maps.DeleteFunc(own, func(_ string, at int) bool { return at > indent })
		s := statementOf(text)
		for _, name := range s.reads {
			if _, is := own[name]; !is {
				reads[name] = true
			}
		}
		for _, name := range s.changes {
			if _, is := gives[name]; !is && !slices.Contains(modules, name) {
				gives[name] = false
			}
		}
		for name, deeper := range s.binds {
			own[name] = indent + deeper
			gives[name] = gives[name] || own[name] == 0
		}
	}
	return reads, gives
}

// What code does with more than the names that it mentions.
var (
	hides = lazy.Regexp(`(?m)\b(?:exec|eval|globals|locals|vars|get_ipython|system)\(|` +
		`\bsubprocess\b|\.py["']|^\s*(?:!|%[^m])`)

	writes = lazy.Regexp(`\.to_(?:csv|excel|feather|file|hdf|html|json|latex|markdown|netcdf|orc|parquet|pickle|sql|stata|` +
		`xml|zarr)\b|\bsave\w*\(|\bdump\(|[wW]rite\w*\(|open\((?:[^\n]*,\s*)?(?:mode\s*=\s*)?["'][rbt]*[wxa+][bt+]*["']|` +
		`\b(?:shutil|urlretrieve|touch|symlink_to)\b|(?i:\bcreate\s.{0,30}\b(?:table|view)|\binsert\s+into|\bcopy\b.*\bto\b)`)
	opens = lazy.Regexp(`(?:\b(?:(?:np|numpy|joblib|torch)\.load|loadtxt|genfromtxt|fromfile|imread|read_[a-rt-z]\w*|` +
		`read_s[apt]\w*|scan_\w+|open|connect|\w*Path|\w*File|[ir]?glob|iterdir|listdir|scandir|walk)\(|` +
		`(?i:\b(?:from|join)\s+)["'])\s*`)
	ofData = lazy.Regexp(`^(?:\)|f?r?["']?(?:\./)?data(?:["']|/(?:[^"'.]|\.[^"'.])*["'])|` +
		`[^\n]*?,\s*(?:mode=)?["'][bt]*[wxa][bt+]*["'])`)

	// literal matches a comment, or a string with its prefix; inString a name of an f-string, or of a query.
	literal = lazy.Regexp(`(?s)#[^\n]*|([fFrRbBuUtT]{0,2})("""(?:[^\\]|\\.)*?"""|'''(?:[^\\]|\\.)*?'''|` +
		`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')`)
	inString = lazy.Regexp(`\{([^{}]*)\}?|(?:(?i:\b(?:from|join|update|(into|table|view))\s+` +
		`(?:if\s+(?:not\s+)?exists\s+)?)["\x60[]?|@)([\pL_][\w.]*)`)
)

// statements returns the statements of Python code, of strings only the names that they mention.
func statements(code string) (all []string) {
	code = literal().ReplaceAllStringFunc(code, func(s string) string {
		m := literal().FindStringSubmatch(s)
		if m[2] == "" {
			return "" // a comment
		}
		text := `""`
		for _, in := range inString().FindAllStringSubmatch(m[2], -1) {
			if in[3] != "" || strings.ContainsAny(m[1], "fF") {
				text += ", " + strings.ReplaceAll(in[1], "\n", " ") + in[3]
			}
			if in[2] != "" {
				text += " :=" // a table may be made
			}
		}
		return "(" + text + ")"
	})
	whole := ""
	for part := range strings.Lines(code) {
		whole += strings.TrimRight(part, "\n\\")
		if depthOf(whole) > 0 || strings.HasSuffix(part, "\\\n") {
			continue
		}
		parts := strings.Split(whole, ";")
		if compound().MatchString(whole) {
			parts = []string{whole}
		}
		for n, one := range parts {
			if n > 0 {
				one = whole[:len(whole)-len(strings.TrimLeft(whole, " \t"))] + strings.TrimSpace(one)
			}
			all = append(all, one)
		}
		whole = ""
	}
	return append(all, whole)
}

// depthOf returns how many brackets are open at the end of code.
func depthOf(code string) (depth int) {
	for _, c := range code {
		if strings.ContainsRune("([{", c) {
			depth++
		} else if strings.ContainsRune(")]}", c) {
			depth = max(0, depth-1)
		}
	}
	return depth
}

// A statement is what one does with names: those that it changes can be other ones afterwards.
type statement struct {
	reads, changes []string
	binds          map[string]int // 1: for the lines below that are indented further
}

var (
	identifier = lazy.Regexp(`[\pL_][\pL\pN_]*`)
	ofPython   = lazy.Regexp(`^(?:and|as|assert|async|await|break|class|continue|def|del|elif|else|except|False|finally|for|` +
		`from|global|if|import|in|is|lambda|match|None|nonlocal|not|or|pass|raise|return|True|try|while|with|yield|abs|all|any|` +
		`bool|dict|display|enumerate|filter|float|format|int|isinstance|iter|len|list|map|max|min|next|open|print|range|repr|` +
		`reversed|round|set|sorted|str|sum|tuple|type|zip)$`)
	imports   = lazy.Regexp(`(?m)^\s*(?:import|from)\s.*`)
	compound  = lazy.Regexp(`^\s*(?:async\s+)?(?:if|elif|else|for|while|with|try|except|finally|class|def|match|case)\b`)
	defines   = lazy.Regexp(`\b(?:def|class)\s+([\pL_][\pL\pN_]*)`)
	inner     = lazy.Regexp(`\bfor\s+([^:]*?)\s+in\b|\blambda\s+([^:]*):|^(?:async\s+)?def\s*\((.*)\)|\bas\s+(\w+)`)
	onlyNames = lazy.Regexp(`^[\s(\[*]*[\pL_][\pL\pN_]*(?:\s*,[\s*]*[\pL_][\pL\pN_]*)*[\s,)\]]*$`)
	calls     = lazy.Regexp(`(?:^|[^\w.])([\p{Ll}_][\pL\pN_]*)\(`)
	changing  = lazy.Regexp(`:=|\binplace\b|\.(?:pop\w*|setdefault|append|extend|insert|update|remove|discard|add|clear|sort|` +
		`reverse|execute\w*)\(|^for\s[^(.]*:$|^(?:del|global|nonlocal|case)\b`)
)

func statementOf(line string) (s statement) {
	s.binds = map[string]int{}
	if m := defines().FindStringSubmatch(line); m != nil {
		s.binds[m[1]], line = 0, strings.Replace(line, " "+m[1], "", 1)
	}
	head, hidden, assigned := compound().MatchString(line), map[string]bool{}, false
	for _, m := range inner().FindAllStringSubmatch(line, -1) {
		for _, name := range identifier().FindAllString(strings.Join(m[1:], " "), -1) {
			if hidden[name] = true; head {
				s.binds[name] = 1
			}
		}
	}
	for at := assignment(line); at > 0 && !head; at = assignment(line) {
		if target, _, _ := strings.Cut(line[:at], ":"); onlyNames().MatchString(target) { // without its type
			for _, name := range identifier().FindAllString(target, -1) {
				s.binds[name] = 0
			}
		} else {
			s.changes = append(s.changes, mentioned(line[:at], hidden)...)
		}
		line, assigned = line[at+1:], true
	}
	all := mentioned(line, hidden)
	s.reads = append(slices.Clone(s.changes), all...)
	reads := assigned || !strings.ContainsAny(line, "(=") ||
		ofPython().MatchString(identifier().FindString(line)) && (!head || strings.HasSuffix(line, ":"))
	for _, m := range calls().FindAllStringSubmatch(line, -1) {
		reads = reads && ofPython().MatchString(m[1])
	}
	if !reads || assigned && onlyNames().MatchString(line) || changing().MatchString(line) {
		s.changes = append(s.changes, all...)
	}
	return s
}

// assignment returns where the first sign of assignment of a statement is; 0 if there is none.
func assignment(line string) int {
	for i, c := range line {
		if c == '=' && i > 0 && !strings.ContainsRune("=!<>:", rune(line[i-1])) &&
			!strings.HasPrefix(line[i+1:], "=") && depthOf(line[:i]) == 0 {
			return i
		}
	}
	return 0
}

// mentioned returns the names in code but for attributes, keywords, and those that are hidden.
func mentioned(code string, hidden map[string]bool) (all []string) {
	for _, at := range identifier().FindAllStringIndex(code, -1) {
		name, after := code[at[0]:at[1]], strings.TrimLeft(code[at[1]:], " ")
		keyword := strings.HasPrefix(after, "=") && !strings.HasPrefix(after, "==")
		attribute := strings.HasSuffix(strings.TrimRight(code[:at[0]], " "), ".")
		if !keyword && !attribute && !hidden[name] && !ofPython().MatchString(name) {
			all = append(all, name)
		}
	}
	return all
}
