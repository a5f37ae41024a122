// Package lists has what package slices lacks.
package lists

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
