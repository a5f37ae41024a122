//go:build !linux && !darwin

package term

// DropInput does nothing on this system; elsewhere it discards typed input that has not been read.
func DropInput(int) {}
