// Package notebooktest contains notebook content that tests of several packages share.
package notebooktest

import (
	"encoding/base64"
	"fmt"
)

// Fetching returns pieces of HTML by name. When a browser shows one, it would fetch that name
// below address, which ends with a slash.
func Fetching(address string) map[string]string {
	all := named("", address, map[string]string{
		"img":       `<img src="%s">`,
		"img-plain": `<IMG/SRC=%s>`,
		"img-short": `<img src="` + "\t" + `%s"><img srcset="%[1]s 1x, x.png 2x">`,
		"picture":   `<picture><source srcset="a.png, %s 2x"><img src=x></picture>`,
		"twice":     `<img src="x" src="%s"><img srcset="data:image/png;base64,AAAA 1x, %[1]s 2x">`,
		"poster":    `<video poster="%s"></video>`,
		"video": `<video autoplay src="%s"></video><video><source src="%[1]s">` +
			`<track default src="%[1]s"></video>`,
		"audio":  `<audio preload=auto src="%s"></audio>`,
		"input":  `<input type=image src="%s">`,
		"frame":  `<iframe src="%s"></iframe><frameset><frame src="%[1]s"></frameset>`,
		"srcdoc": `<iframe srcdoc="&lt;img src='%s'>"></iframe>`,
		"object": `<object data="%s"></object><embed src="%[1]s">`,
		"link": `<link rel="stylesheet" href="%s"><link rel=preload as=image href="%[1]s">` +
			`<link rel=icon href="%[1]s">`,
		"background": `<table background="%s"><tr><td background="%[1]s">x</td></tr></table>`,
		"css":        `<p style="background: url(%s)">x</p>`,
		"css-escape": `<p style="background: \75 rl(%s)">x</p>` +
			`<p style="background: URL('%[1]s')">x</p>`,
		"css-set": `<p style="background: image-set('%s' 1x)">x</p>` +
			`<p style="list-style: -webkit-image-set(url(%[1]s) 1x)">x</p>`,
		"css-content": `<p style='content: url("%s"); cursor: url(%[1]s), auto; border-image: ` +
			`url(%[1]s) 1'>x</p>`,
		"style":  `<style>p { background: url(%s) }</style><p>x</p>`,
		"import": `<style>@import "%s";</style>`,
		"font": `<style>@font-face { font-family: f; src: url(%s) } p { font-family: f ` +
			`}</style><p>x</p>`,
		"svg-image": `<svg><image href="%s"/><image xlink:href="%[1]s"/>` +
			`<feImage href="%[1]s"/></svg>`,
		"svg-use": `<svg><use href="%s#a"/>` +
			`<rect fill="url(%[1]s#b)" style="mask: url(%[1]s#c)"/></svg>`,
		"svg-style": `<svg><style>rect { fill: u&#114;l(%s) }</style><rect/></svg>`,
		"svg-set": `<svg><image href="x"><set attributeName="href" to="%s"/>` +
			`<animate attributeName="href" values="x;%[1]s"/></image></svg>`,
		"svg-break": `<svg><style><img src="%s"></style></svg><svg><title><img src="%[1]s">` +
			`</title></svg>`,
		"svg-script":  `<svg><script><img src="%s"></script></svg>`,
		"refresh":     `<meta http-equiv="refresh" content="9; url=%s">`,
		"base":        `<base href="%s/"><img src="x.png">`,
		"noscript":    `<noscript><p title="</noscript><img src=%s>"></noscript>`,
		"textarea":    `<textarea><img src="%s"></textarea><xmp><img src="%[1]s"></xmp>`,
		"comment":     `<!-- <!-- --!><img src="%s"><!--><img src="%[1]s">-->`,
		"script-end":  `<script><!--<script></script><img src="%s"></script>`,
		"script-odd":  "<script></script x><img src='%s'></script>",
		"long-s":      "<\u017fcript><img src='%s'></\u017fcript>",
		"style-title": `<style title=">a{}</style><b title="x">@import url(%s);</b>`,
		"cdata":       `<![CDATA[ > <img src="%s"> ]]>`,
		"self-closed": `<style/><img src="%s"></style><svg><style/><img src="%[1]s"></svg>`,
		"open":        `<p>x</p><img src="%s" alt=`,
		"odd-name":    `<img x"y='"' src="%s"><a<b src="%[1]s">`,
		"mutation": `<math><mtext><table><mglyph><style><!--</style>` +
			`<img title="--&gt;&lt;img src='%s'&gt;">`,
		"css-crlf": "<style>p { background: u\\72\r\nl(%s) }</style><svg><style>p { fill: " +
			"u\\72\r\nl(%[1]s) }</style></svg>" +
			`<p style="background: u&#92;72&#13;&#10;l(%[1]s)">x</p>`,
		"like-link": `<http:x/style="background:url(%s)">x</http:x>`,
		"joined": `<<style/>img src="%s"><<textarea>img src=%[1]s <x</textarea><<svg/>` +
			`<title>x<img src="%[1]s"></title>`,
		"end-tag": `</a x="><img src=%s>">`,
	})
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
	return named("md-", address, map[string]string{
		"image":            `![x](%s)`,
		"title":            `a ![x](<%s> "title") b`,
		"reference":        "![x][r] ![r]\n\n[r]: %s\n",
		"nested":           `[![x ![y](%s)](a.png)](b)`,
		"escaped":          `\\![x](%s)`,
		"local":            `![x](a.png)![x](%s)![x](a.png "b](c")`,
		"span":             "`` ` ![x](%s) `",
		"list":             "- x\n\n      code\n\n> ![x](%s)\n",
		"html":             "<div>\n\n![x](%s)\n\n</div>\n",
		"mermaid":          "```mermaid\nflowchart LR\n  A@{ img: \"%s\" }\n```\n",
		"quoted":           "> <img\n> src=%s>\n\n- <img\n  alt='\n\n  ' src=%[1]s>\n",
		"quoted-attribute": "> <b title='\n> '><img title='\n> ' src=%s>\n",
		"end-attribute":    `</a x="<img src=%s>">`,
		"end-lines":        "</a\n\n<img src=%s>",
		"comment-lines":    "<!-- x\n> y <img src=%s> -->\n\na <!--\n\n<img src=%[1]s> -->",
		"instruction-lines": "a <?x\n\n<img src=%s>?>\n\na <!X\n\n<img src=%[1]s>\n\n" +
			"a <![CDATA[\n\n<img src=%[1]s>]]>",
		"raw-lines":        "a <style>\n\n<img src=%s></style>\n\na <title>\n\n<img src=%[1]s></title>",
		"open":             "a <b title='\n\n<img src=%s>",
		"script-attribute": `\<script x="<img src=%s>">`,
		"joined":           "!<style>[x](%s)\n\n```<style>mermaid\n%[1]s\n```\n",
		"decoded":          `\<b title="!&#91;x](%s)" src="%[1]s">`,
		"math":             `<img title=$ > a$ src=%s>`,
		"math-escape":      `<img title=\\( > a\\) src=%s>`,
		"block-link": "<div>\n<http:x/style=background:url(%s)>" +
			"<http:x/style=background:url&#40;%[1]s)>\n</div>",
	})
}

// named returns texts by their names, which stand in them below the address in place of %s.
func named(prefix, address string, formats map[string]string) map[string]string {
	all := map[string]string{}
	for name, format := range formats {
		all[prefix+name] = fmt.Sprintf(format, address+prefix+name)
	}
	return all
}
