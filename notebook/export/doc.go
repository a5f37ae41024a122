// Package export turns a notebook, dsstar's or any other, into one file that needs
// nothing else: an HTML page ([HTML]), Markdown ([Markdown]) or a script ([Script]).
//
// What stands in a notebook was written by models, by data and by strangers. None
// of it can run in a page, reach the network or break the page's structure:
// whatever is HTML in the end, Markdown's too, goes through one parser and comes
// out as a tree of the few elements and attributes that clean.go lists; pictures
// become images, in which scripts do not run; and the page's policy forbids
// everything but its own style.
//
// It is a package of its own so that what imports notebook does not carry the
// parsers.
package export
