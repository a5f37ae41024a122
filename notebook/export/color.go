package export

import (
	"embed"
	"html"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"

	"dsstar/notebook/lazy"
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

// coloured matches chroma's classes that page.css knows, of some their first letters.
var coloured = lazy.Regexp(`^(?:[kcsm]|ow$|n[bcdeft]$|bp$|fm$)`)

// code returns code as HTML, highlighted if its language is known and it is not very long.
func code(text, language string) string {
	text = visible(text)
	plain := html.EscapeString(text)
	language = strings.ToLower(language)
	if strings.HasPrefix(language, "ipython") {
		language = "python"
	}
	i := slices.IndexFunc(knownLexers(), func(l *chroma.RegexLexer) bool {
		return strings.EqualFold(l.Config().Name, language) ||
			slices.Contains(l.Config().Aliases, language)
	})
	if i < 0 || len(text) > 200<<10 {
		return plain
	}
	lexer := chroma.Coalesce(knownLexers()[i])
	tokens, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, text)
	if err != nil {
		return plain
	}
	var b, all strings.Builder
	for _, t := range tokens.Tokens() {
		all.WriteString(t.Value)
		span(&b, coloured().FindString(chroma.StandardTypes[t.Type]), "", t.Value)
	}
	if all.String() != text {
		return plain // never lose a character for colours
	}
	return b.String()
}

// span writes text with a class and a style, if any.
func span(b *strings.Builder, class, style, text string) {
	if class == "" && style == "" || text == "" {
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
