// Package export turns any notebook into one self-contained file: an HTML page ([HTML]),
// Markdown ([Markdown]) or a script ([Script]).
//
// The content of a notebook comes from models, data and strangers, and is not trusted. None of
// it can run in a page, reach the network or break the page's structure. All HTML, including
// that of Markdown, is parsed and reduced to the elements and attributes that clean.go lists.
// SVG becomes images, in which scripts do not run. The page's content security policy allows
// only its own style.
//
// It is a separate package so that importers of notebook do not link the parsers.
package export
