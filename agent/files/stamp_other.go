//go:build !linux && !darwin

package files

func (s *Stamp) identify(any) {}
