package export

import (
	"embed"
	"html"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"
)

// lexers contains chroma's lexers for the languages of notebooks. Chroma's own package registers
// all languages at program start, which takes longer than all other initialization.
//
//go:embed lexers/*.xml
var lexers embed.FS

var knownLexers = sync.OnceValue(func() []*chroma.RegexLexer {
	var all []*chroma.RegexLexer
	for _, name := range []string{"python", "r", "julia", "bash", "sql", "json"} {
		// a test guarantees that all lexers load
		if l, err := chroma.NewXMLLexer(lexers, "lexers/"+name+".xml"); err == nil {
			all = append(all, l)
		}
	}
	return all
})

// lexerOf returns the lexer of a language; nil if there is none.
func lexerOf(language string) *chroma.RegexLexer {
	language = strings.ToLower(language)
	if language == "ipython" || language == "ipython3" {
		language = "python"
	}
	for _, l := range knownLexers() {
		c := l.Config()
		if strings.EqualFold(c.Name, language) || slices.Contains(c.Aliases, language) {
			return l
		}
	}
	return nil
}

// tooLong is the maximum length of highlighted code, in bytes.
const tooLong = 200 << 10

// A piece is text with a CSS class; "" for none.
type piece struct{ class, text string }

// pieces splits code into classified tokens.
func pieces(code, language string) []piece {
	code = visible(code)
	l := lexerOf(language)
	if l == nil || len(code) > tooLong {
		return []piece{{"", code}}
	}
	tokens, err := l.Tokenise(&chroma.TokeniseOptions{State: "root"}, code) // adds no line break
	if err != nil {
		return []piece{{"", code}}
	}
	var all []piece
	length := 0
	for _, token := range tokens.Tokens() {
		class := classOf(token.Type)
		if n := len(all); n > 0 && all[n-1].class == class {
			all[n-1].text += token.Value
		} else {
			all = append(all, piece{class, token.Value})
		}
		length += len(token.Value)
	}
	if length != len(code) {
		return []piece{{"", code}} // never lose a character for colours
	}
	return all
}

// classOf returns the class of a token in page.css.
func classOf(t chroma.TokenType) string {
	switch {
	case t.InSubCategory(chroma.KeywordConstant), t.InCategory(
		chroma.Keyword), t == chroma.OperatorWord:
		return "k"
	case t.InCategory(chroma.Comment):
		return "c"
	case t.InSubCategory(chroma.LiteralString):
		return "s"
	case t.InSubCategory(chroma.LiteralNumber):
		return "m"
	}
	switch t {
	case chroma.NameBuiltin, chroma.NameBuiltinPseudo, chroma.NameException:
		return "b"
	case chroma.NameFunction, chroma.NameFunctionMagic, chroma.NameClass, chroma.NameDecorator:
		return "f"
	case chroma.NameTag:
		return "k"
	}
	return ""
}

// code returns highlighted code as HTML.
func code(text, language string) string {
	var b strings.Builder
	for _, p := range pieces(text, language) {
		span(&b, p.class, "", p.text)
	}
	return b.String()
}

// span writes text with a class and a style, if any.
func span(b *strings.Builder, class, style, text string) {
	if class == "" && style == "" {
		b.WriteString(html.EscapeString(text))
		return
	}
	b.WriteString("<span")
	if class != "" {
		b.WriteString(` class="` + class + `"`)
	}
	if style != "" {
		b.WriteString(` style="` + style + `"`)
	}
	b.WriteString(">" + html.EscapeString(text) + "</span>")
}
