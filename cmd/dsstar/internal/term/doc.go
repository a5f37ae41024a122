// Package term shows text that comes from strangers - models, files, what cells print - on a
// terminal: without anything that the terminal would obey, in the columns that there are, above a
// view that is kept up to date.
package term
