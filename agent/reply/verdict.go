package reply

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"dsstar/agent/brief"
	"dsstar/agent/record"
	"dsstar/notebook/lazy"
)

var (
	errNoReason = errors.New("a reason is needed with `Verdict: inconclusive`")
	errTwo      = errors.New("it gives two verdicts")
	errIf       = errors.New("it makes a condition")
)

// Verdict is a line "Verdict: …", or a line that begins with the verdict alone. A reply
// whose words point both ways is an error: a verdict is never guessed. An inconclusive
// verdict needs the label and a reason.
var Verdict = Format[record.Verdict]{
	Rule: "Reply in two lines: first `Verdict: sufficient`, `Verdict: unfinished`, " +
		"`Verdict: insufficient` or `Verdict: inconclusive`, then `Reason:` or `Missing:` " +
		"with one sentence.",
	Parse:   verdictIn,
	longest: longestTalk,
}

// WithoutInconclusive is Verdict without the inconclusive one.
var WithoutInconclusive = Format[record.Verdict]{
	Rule: "Reply in two lines: first `Verdict: sufficient`, `Verdict: unfinished` or " +
		"`Verdict: insufficient`, then `Reason:` or `Missing:` with one sentence.",
	Parse:   conclusive(errors.New("it is neither sufficient nor insufficient")),
	longest: longestTalk,
}

// YesNo is a verdict in the words of the paper: Yes or No.
var YesNo = Format[record.Verdict]{
	Rule:    "Reply with `Yes` or `No`, and nothing else.",
	Parse:   conclusive(errors.New("it is neither Yes nor No")),
	longest: longestTalk,
}

// conclusive reads a verdict and returns neither for an inconclusive one.
func conclusive(neither error) func(text string) (record.Verdict, error) {
	return func(text string) (record.Verdict, error) {
		v, err := verdictIn(text)
		if v.Inconclusive || errors.Is(err, errNoReason) {
			return record.Verdict{}, neither
		}
		return v, err
	}
}

func verdictIn(text string) (record.Verdict, error) {
	text, err := fieldsAsLines(text)
	if err != nil {
		return record.Verdict{}, err
	}
	said, err := verdicts.read(text)
	if err != nil {
		return record.Verdict{}, err
	}
	v := record.Verdict{Sufficient: said.sign != negative, Inconclusive: said.sign == inconclusive}
	v.Unfinished = said.word == "unfinished" && !doubt().MatchString(text)
	reason, label := reasonIn(text)
	switch {
	case label == "missing" && v.Sufficient && !isNothing(reason),
		label == "missing" && !v.Sufficient && isNothing(reason) && reason != "":
		return record.Verdict{}, errTwo
	case label == "":
		reason = said.reason(text, !v.Inconclusive)
	}
	if !isNothing(reason) {
		v.Reason = reason
	}
	if v.Inconclusive && v.Reason == "" {
		return record.Verdict{}, errNoReason
	}
	return v, nil
}

// doubt matches words that contradict a verdict that every step is right; then the router
// decides.
var doubt = lazy.Regexp(
	`(?i)\b(?:insufficient|wrong|incorrect|erroneous|flawed|faulty|mistaken|in\s+doubt)\b`,
)

// A sign is the direction of a judgement.
type sign int

const (
	positive sign = iota + 1
	negative
	inconclusive
)

// A vocabulary is the words for a kind of judgement.
type vocabulary struct {
	name  string
	label func() *regexp.Regexp // what comes before the judgement
	value func() *regexp.Regexp // a judgement: groups by sign
	// words that stand for one anywhere; groups: negative twice, positive, inconclusive
	mention func() *regexp.Regexp
}

// marks may surround a judgement: Markdown, quotes, JSON, a number, emoji.
const marks = "(?:[\\s#>*_`\"'({|•✔✗✘\\p{So}\\x{FE0F}\\x{200D}]|[-–—]+\\s|\\d{1,2}[.)]\\s)*"

// labelled matches a label such as "Verdict:" with what may surround it.
func labelled(name string) func() *regexp.Regexp {
	return lazy.Regexp(
		`(?i)^(?:(?:here\s+is|my|the|final|overall)\s+)*` + name + "[\\s*_\"'`|)]*(?:[:=|]+|[-–—]+\\s|is\\b)[\\s*_\"'`|:]*",
	)
}

var verdicts = vocabulary{
	name:  "verdict",
	label: labelled("verdict"),
	value: lazy.Regexp(
		`(?i)^(?:(?:so|thus|therefore|hence|overall),?\s+)?(?:(?:it|(?:the|this)\s+(?:current\s+)?(?:plan|question))\s+(?:is\s+)?(?:now\s+|already\s+)?)?(?:(sufficient|yes)|(` +
			`(?:not|isn['’]t)\s+(?:\w+\s+)?sufficient|insufficient|unfinished|does\s+not\s+suffice|no)|(` +
			`inconclusive|not\s+applicable|n/a|(?:cannot|can\s+not|can['’]t)\s+be\s+answered(?:\s+(?:from|with)\s+(?:the|these)\s+(?:given\s+|available\s+)?data)?|unanswerable))\b`,
	),
	mention: lazy.Regexp(
		`(?i)(?:\b(not\s+(?:\w+\s+){0,2}sufficient|insufficient|unfinished)|n['’]t\s+(?:\w+\s+){0,2}(sufficient)|(\bsufficient)|(\binconclusive|\bnot\s+applicable))\b`,
	),
}

// nearby is how much of a line is read together with its judgement. It keeps the time
// proportional to the length of the text.
const nearby = 300

// A judgement is a verdict found in a text, and its place.
type judgement struct {
	sign     sign
	labelled bool
	word     string // the judgement itself, in lower case
	rest     string // of its line
	begin    int    // of the line with its label, in the text
	end      int    // of its line
}

var (
	lineMarks = lazy.Regexp(`^` + marks)
	sentence  = lazy.Regexp(`[.!?:…]["')*_]*\s+`)
	goesOn    = lazy.Regexp(
		"^[*_`\"'|)}\\]]*\\s*(?:$|[.,:;!(]|[-–—]+\\s|–|—|because\\b|since\\b|as\\b|reason\\b|missing\\b|problem\\b|to\\s+answer\\b|[\\p{So}])",
	)
	yesOrNo   = lazy.Regexp("(?i)^[\\s:=\"'*_`|]*(?:yes|no|true|false)[\\s\"'*_`|.,}]*$")
	condition = lazy.Regexp(`(?i)\b(?:but|however|except|unless|although|if|provided|assuming)\b`)
	lacking   = lazy.Regexp(
		`(?i)\b(?:missing|lack|lacks|lacking|needs?\s+to|must|should|incomplete)\b`,
	)
	denial = lazy.Regexp(`(?i)\b(?:no|not|nothing|none|never|neither)\b|n['’]t\b`)
)

// read finds the one judgement of a text. A labelled judgement counts unless another
// contradicts it; without a label all words of the text count.
func (v vocabulary) read(text string) (judgement, error) {
	all, err := v.judgements(text)
	if err != nil {
		return judgement{}, err
	}
	if len(all) == 0 {
		return judgement{}, fmt.Errorf("it gives no %s", v.name)
	}
	first := all[0]
	words := text
	if i := slices.IndexFunc(all, func(s judgement) bool { return s.labelled }); i >= 0 {
		first, words = all[i], ""
	}
	for _, s := range all {
		if s.sign != first.sign {
			return judgement{}, v.two()
		}
		if first.labelled && s.labelled {
			words += s.rest + "\n"
		}
	}
	switch {
	case v.contradict(first.sign, words):
		return judgement{}, v.two()
	case first.sign == positive && condition().MatchString(words),
		first.sign == positive && !first.labelled && lacking().MatchString(words) &&
			!denial().MatchString(words):
		return judgement{}, errIf
	case first.sign == inconclusive && !first.labelled:
		return judgement{}, fmt.Errorf("it gives no %s", v.name)
	}
	return first, nil
}

// judgements returns all judgements of a text. Every label must have one, in its line or at
// the beginning of the next line that is not empty.
func (v vocabulary) judgements(text string) (all []judgement, err error) {
	waits, begin, end := false, 0, 0 // waits: for the judgement of the label at begin
	for line := range strings.Lines(text) {
		start := end
		end += len(line)
		if line = strings.TrimRight(line, " \t\n"); strings.TrimSpace(line) == "" {
			continue
		}
		if !waits {
			begin = start
		}
		found, labelled, err := v.inLine(line, waits)
		if err != nil {
			return nil, err
		}
		for _, s := range found {
			s.begin, s.end = begin, end
			all = append(all, s)
		}
		waits = labelled && len(found) == 0
	}
	if waits {
		return nil, v.unknown()
	}
	return all, nil
}

// inLine returns the judgements of a line: after its label, at its beginning, and in
// sentences about the plan. The rest of a line belongs to its label.
func (v vocabulary) inLine(line string, waited bool) (all []judgement, labelled bool, err error) {
	for _, start := range starts(line) {
		full := line[start:]
		part := full[len(lineMarks().FindString(full)):]
		label := v.label().FindString(part)
		part = part[len(label):]
		labelled = label != "" || waited
		if !labelled && start > 0 && !isClaim(part) {
			continue
		}
		if label != "" && strings.Trim(part, "*_` ") == "" {
			return all, true, nil
		}
		s, ok, err := v.match(part, labelled)
		switch {
		case err != nil:
			return nil, false, err
		case ok && crossed(full, s.sign):
			return nil, false, v.two()
		case labelled && !ok:
			return nil, false, v.unknown()
		case ok && (labelled || s.sign != inconclusive || !isClaim(part)):
			s.labelled = labelled
			all = append(all, s)
		}
		if labelled {
			return all, true, nil
		}
	}
	return all, false, nil
}

// starts returns the positions in a line at which a sentence begins.
func starts(line string) []int {
	at := []int{0}
	for _, m := range sentence().FindAllStringIndex(line, -1) {
		at = append(at, m[1])
	}
	return at
}

var claim = lazy.Regexp(`(?i)^(?:(?:so|thus|therefore|hence|overall),?\s+)?(?:the|this)\s+`)

// isClaim reports whether a sentence may be about the plan as a whole.
func isClaim(sentence string) bool { return claim().MatchString(sentence) }

// match reads the judgement at the beginning of a text. ok is false if there is none. After
// a label an error says why.
func (v vocabulary) match(text string, labelled bool) (s judgement, ok bool, err error) {
	text = text[len(lineMarks().FindString(text)):]
	m := v.value().FindStringSubmatchIndex(text)
	if m == nil {
		return s, false, nil
	}
	s.rest = text[m[1]:]
	near := s.rest[:min(len(s.rest), nearby)]
	for g := positive; g <= inconclusive; g++ {
		if m[2*g] >= 0 {
			s.sign, s.word = g, strings.ToLower(text[m[2*g]:m[2*g+1]])
		}
	}
	switch {
	case yesOrNo().MatchString(s.rest):
		return s, false, v.two()
	case goesOn().MatchString(s.rest):
		return s, true, nil
	case labelled && v.contradict(s.sign, near):
		return s, false, v.two()
	case labelled && s.sign == positive && condition().MatchString(near):
		return s, false, errIf
	}
	return s, false, nil
}

// crossed reports whether an emoji beside a judgement contradicts it.
func crossed(line string, s sign) bool {
	line = line[:min(len(line), nearby)]
	return s == positive && strings.ContainsAny(line, "❌✗✘👎🚫⛔") ||
		s == negative && strings.ContainsAny(line, "✅✔👍")
}

// contradict reports whether words express another judgement.
func (v vocabulary) contradict(s sign, words string) bool {
	for _, m := range v.mention().FindAllStringSubmatch(words, -1) {
		other := positive
		switch {
		case m[1] != "" || m[2] != "":
			other = negative
		case m[4] != "":
			other = inconclusive
		}
		if other != s {
			return true
		}
	}
	return false
}

func (v vocabulary) unknown() error {
	return fmt.Errorf("its %s is not one of those asked for", v.name)
}

func (v vocabulary) two() error {
	if v.name == "verdict" {
		return errTwo
	}
	return errors.New("it says two things about the " + v.name)
}

var (
	reasonLabel = lazy.Regexp(
		"(?im)^" + marks + "(missing|reason|problem)[\\s*_`\"'|]*(?:[:=|]+|[-–—]+\\s|\\bis\\b|\\n)[\\s*_`\"'|]*",
	)
	reasonEnd = lazy.Regexp(`\n\s*\n`)
)

// reasonIn returns the paragraph after the label "Reason:", "Missing:" or "Problem:", and
// the label.
func reasonIn(text string) (reason, label string) {
	m := reasonLabel().FindStringSubmatchIndex(text)
	if m == nil {
		return "", ""
	}
	reason = text[m[1]:]
	if end := reasonEnd().FindStringIndex(reason); end != nil {
		reason = reason[:end[0]]
	}
	return oneParagraph(reason), strings.ToLower(text[m[2]:m[3]])
}

// reason returns the text after a judgement, or before it if that is allowed.
func (s judgement) reason(text string, before bool) string {
	reason := oneParagraph(s.rest + "\n" + text[s.end:])
	if reason == "" && before && s.labelled {
		reason = oneParagraph(text[:s.begin])
	}
	return reason
}

func oneParagraph(text string) string {
	text = strings.TrimLeft(text, " .,:;!)}—–-*_`\"'|\n\t")
	return brief.Clip(strings.TrimRight(strings.Join(strings.Fields(text), " "), " *_`\"'|}"), 600)
}

// isNothing reports whether a reason says that there is none.
func isNothing(reason string) bool {
	switch strings.ToLower(strings.Trim(reason, " .-–—")) {
	case "", "none", "nothing", "n/a", "null", "nothing is missing":
		return true
	}
	return false
}
