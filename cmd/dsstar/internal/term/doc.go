// Package term shows untrusted text - from models, files and cells - on a terminal: without control
// sequences, wrapped to the terminal's width, above a live view.
package term
