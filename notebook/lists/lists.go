// Package lists has what package slices lacks.
package lists

// Map returns what of makes of each element, in their order; nil if there is none.
func Map[T, U any](all []T, of func(T) U) (made []U) {
	for _, one := range all {
		made = append(made, of(one))
	}
	return made
}
