// Package lists has what package slices lacks.
package lists

import "slices"

// Where returns the elements that are to be kept, in their order; nil if there is none.
func Where[T any](all []T, keep func(T) bool) (kept []T) {
	for _, one := range all {
		if keep(one) {
			kept = append(kept, one)
		}
	}
	return kept
}

// Map returns what of makes of each element, in their order; nil if there is none.
func Map[T, U any](all []T, of func(T) U) (made []U) {
	for _, one := range all {
		made = append(made, of(one))
	}
	return made
}

// First returns the first element that is meant; the zero value if there is none.
func First[T any](all []T, is func(T) bool) (one T) {
	if i := slices.IndexFunc(all, is); i >= 0 {
		one = all[i]
	}
	return one
}

// Begins reports whether a list begins with another.
func Begins[T comparable](all, with []T) bool {
	return len(with) <= len(all) && slices.Equal(all[:len(with)], with)
}
