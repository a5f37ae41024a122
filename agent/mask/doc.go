// Package mask keeps credentials, and the values of columns that a person names, out of what goes
// to a model.
//
// A [Masker] replaces them by stand-ins that are the same in each request, and turns the stand-ins
// of a reply back. A stand-in of a text is "masked" and ten letters, in the case of the text; that
// of a number is a number of 15 digits. Both come from a keyed hash of the value.
package mask
