package export

import (
	"embed"
	"html"
	"io/fs"
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

var known = sync.OnceValue(func() *chroma.LexerRegistry {
	all := chroma.NewLexerRegistry()
	names, _ := fs.Glob(lexers, "lexers/*.xml") // they are embedded, and a test loads all
	for _, name := range names {
		all.Register(chroma.MustNewXMLLexer(lexers, name))
	}
	return all
})

// coloured matches chroma's classes that page.css knows, of some their first letters.
var coloured = lazy.Regexp(`^(?:[kcsm]|ow$|n[bcdeft]$|bp$|fm$)`)

// code returns code as HTML, highlighted if its language is known and it is not very long.
func code(text, language string) string {
	text = visible(text)
	plain := html.EscapeString(text)
	lexer := known().Get(strings.TrimPrefix(strings.ToLower(language), "i")) // ipython3
	if lexer == nil || len(text) > 200<<10 {
		return plain
	}
	tokens, err := chroma.Coalesce(lexer).Tokenise(&chroma.TokeniseOptions{State: "root"}, text)
	if err != nil {
		return plain
	}
	var b, all strings.Builder
	for _, t := range tokens.Tokens() {
		all.WriteString(t.Value)
		if class := coloured().FindString(chroma.StandardTypes[t.Type]); class != "" && t.Value != "" {
			b.WriteString(`<span class="` + class + `">` + html.EscapeString(t.Value) + "</span>")
		} else {
			b.WriteString(html.EscapeString(t.Value))
		}
	}
	if all.String() != text {
		return plain // never lose a character for colours
	}
	return b.String()
}
