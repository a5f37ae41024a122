// Package notebooktest contains notebook content that tests of several packages share.
package notebooktest

import (
	"encoding/base64"
	"fmt"
)

// Fetching returns pieces of HTML by name. When a browser shows one, it would fetch that name
// below address, which ends with a slash.
func Fetching(address string) map[string]string {
	all := map[string]string{}
	add := func(name, format string) { all[name] = fmt.Sprintf(format, address+name) }
	add("img", `<img src="%s">`)
	add("img-plain", `<IMG/SRC=%s>`)
	add("img-short", `<img src="`+"\t"+`%s"><img srcset="%[1]s 1x, x.png 2x">`)
	add("picture", `<picture><source srcset="a.png, %s 2x"><img src=x></picture>`)
	add("twice", `<img src="x" src="%s"><img srcset="data:image/png;base64,AAAA 1x, %[1]s 2x">`)
	add("poster", `<video poster="%s"></video>`)
	add(
		"video",
		`<video autoplay src="%s"></video><video><source src="%[1]s"><track default src="%[1]s"></video>`,
	)
	add("audio", `<audio preload=auto src="%s"></audio>`)
	add("input", `<input type=image src="%s">`)
	add("frame", `<iframe src="%s"></iframe><frameset><frame src="%[1]s"></frameset>`)
	add("srcdoc", `<iframe srcdoc="&lt;img src='%s'>"></iframe>`)
	add("object", `<object data="%s"></object><embed src="%[1]s">`)
	add(
		"link",
		`<link rel="stylesheet" href="%s"><link rel=preload as=image href="%[1]s"><link rel=icon href="%[1]s">`,
	)
	add("background", `<table background="%s"><tr><td background="%[1]s">x</td></tr></table>`)
	add("css", `<p style="background: url(%s)">x</p>`)
	add("css-escape",
		`<p style="background: \75 rl(%s)">x</p><p style="background: URL('%[1]s')">x</p>`)
	add(
		"css-set",
		`<p style="background: image-set('%s' 1x)">x</p><p style="list-style: -webkit-image-set(url(%[1]s) 1x)">x</p>`,
	)
	add("css-content",
		`<p style='content: url("%s"); cursor: url(%[1]s), auto; border-image: url(%[1]s) 1'>x</p>`)
	add("style", `<style>p { background: url(%s) }</style><p>x</p>`)
	add("import", `<style>@import "%s";</style>`)
	add(
		"font",
		`<style>@font-face { font-family: f; src: url(%s) } p { font-family: f }</style><p>x</p>`,
	)
	add("svg-image", `<svg><image href="%s"/><image xlink:href="%[1]s"/><feImage href="%[1]s"/></svg>`)
	add(
		"svg-use",
		`<svg><use href="%s#a"/><rect fill="url(%[1]s#b)" style="mask: url(%[1]s#c)"/></svg>`,
	)
	add("svg-style", `<svg><style>rect { fill: u&#114;l(%s) }</style><rect/></svg>`)
	add(
		"svg-set",
		`<svg><image href="x"><set attributeName="href" to="%s"/><animate attributeName="href" values="x;%[1]s"/></image></svg>`,
	)
	add(
		"svg-break",
		`<svg><style><img src="%s"></style></svg><svg><title><img src="%[1]s"></title></svg>`,
	)
	add("svg-script", `<svg><script><img src="%s"></script></svg>`)
	add("refresh", `<meta http-equiv="refresh" content="9; url=%s">`)
	add("base", `<base href="%s/"><img src="x.png">`)
	add("noscript", `<noscript><p title="</noscript><img src=%s>"></noscript>`)
	add("textarea", `<textarea><img src="%s"></textarea><xmp><img src="%[1]s"></xmp>`)
	add("comment", `<!-- <!-- --!><img src="%s"><!--><img src="%[1]s">-->`)
	add("script-end", `<script><!--<script></script><img src="%s"></script>`)
	add("cdata", `<![CDATA[ > <img src="%s"> ]]>`)
	add("self-closed", `<style/><img src="%s"></style><svg><style/><img src="%[1]s"></svg>`)
	add("open", `<p>x</p><img src="%s" alt=`)
	add("odd-name", `<img x"y='"' src="%s"><a<b src="%[1]s">`)
	add(
		"mutation",
		`<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src='%s'&gt;">`,
	)
	add("css-crlf", "<style>p { background: u\\72\r\nl(%s) }</style><svg><style>p { fill: "+
		"u\\72\r\nl(%[1]s) }</style></svg>"+
		`<p style="background: u&#92;72&#13;&#10;l(%[1]s)">x</p>`)
	add("like-link", `<http:x/style="background:url(%s)">x</http:x>`)
	add(
		"joined",
		`<<style/>img src="%s"><<textarea>img src=%[1]s <x</textarea><<svg/><title>x<img src="%[1]s"></title>`,
	)
	add("end-tag", `</a x="><img src=%s>">`)
	all["same-scheme"] = fmt.Sprintf(`<img src="%sx">`, address[len("http:"):]) +
		fmt.Sprintf(`<img src="/\%s">`, address[len("http://"):])
	svg := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg"><image href="%ssvg-data"/></svg>`,
		address)
	uri := "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(svg))
	all["svg-data"] = fmt.Sprintf(
		`<img src="%s"><iframe src="%[1]s"></iframe><object data="%[1]s"></object>`, uri)
	return all
}

// FetchingMarkdown is [Fetching] for constructs that only Markdown has.
func FetchingMarkdown(address string) map[string]string {
	all := map[string]string{}
	add := func(name, format string) { all["md-"+name] = fmt.Sprintf(format, address+"md-"+name) }
	add("image", `![x](%s)`)
	add("title", `a ![x](<%s> "title") b`)
	add("reference", "![x][r] ![r]\n\n[r]: %s\n")
	add("nested", `[![x ![y](%s)](a.png)](b)`)
	add("escaped", `\\![x](%s)`)
	add("local", `![x](a.png)![x](%s)![x](a.png "b](c")`)
	add("span", "`` ` ![x](%s) `")
	add("list", "- x\n\n      code\n\n> ![x](%s)\n")
	add("html", "<div>\n\n![x](%s)\n\n</div>\n")
	add("mermaid", "```mermaid\nflowchart LR\n  A@{ img: \"%s\" }\n```\n")
	add("quoted", "> <img\n> src=%s>\n\n- <img\n  alt='\n\n  ' src=%[1]s>\n")
	add("quoted-attribute", "> <b title='\n> '><img title='\n> ' src=%s>\n")
	add("end-attribute", `</a x="<img src=%s>">`)
	add("end-lines", "</a\n\n<img src=%s>")
	add("comment-lines", "<!-- x\n> y <img src=%s> -->\n\na <!--\n\n<img src=%[1]s> -->")
	add("instruction-lines",
		"a <?x\n\n<img src=%s>?>\n\na <!X\n\n<img src=%[1]s>\n\na <![CDATA[\n\n<img src=%[1]s>]]>")
	add("raw-lines", "a <style>\n\n<img src=%s></style>\n\na <title>\n\n<img src=%[1]s></title>")
	add("open", "a <b title='\n\n<img src=%s>")
	add("script-attribute", `\<script x="<img src=%s>">`)
	add("joined", "!<style>[x](%s)\n\n```<style>mermaid\n%[1]s\n```\n")
	add("decoded", `\<b title="!&#91;x](%s)" src="%[1]s">`)
	add("math", `<img title=$ > a$ src=%s>`)
	add("math-escape", `<img title=\\( > a\\) src=%s>`)
	add("block-link",
		"<div>\n<http:x/style=background:url(%s)><http:x/style=background:url&#40;%[1]s)>\n</div>")
	return all
}
