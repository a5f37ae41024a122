package main

import (
	"strings"
	"unsafe"

	"dsstar/configs"
)

// hidePasswords returns copies of the process's arguments, and overwrites the passwords in the
// originals, which ps shows: os.Args shares their memory.
func hidePasswords(args []string) []string {
	copies := make([]string, len(args))
	for i, arg := range args {
		copies[i] = strings.Clone(arg)
		if shown := configs.Redact(arg); shown != arg {
			original := unsafe.Slice(unsafe.StringData(arg), len(arg))
			clear(original[copy(original, shown):])
		}
	}
	return copies
}
