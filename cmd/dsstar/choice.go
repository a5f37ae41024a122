package main

import (
	"fmt"
	"slices"
	"strings"

	"dsstar/cmd/dsstar/internal/usage"
)

// A choice is the value of a flag that takes one of several words; "" is the default.
type choice struct {
	value *string
	flag  string
	words []string
}

func (c choice) String() string {
	if c.value == nil { // pflag asks the zero value
		return ""
	}
	return *c.value
}

func (c choice) Type() string { return strings.Join(c.words, "|") }

func (c choice) Set(text string) error {
	if !slices.Contains(c.words, text) {
		return usage.New(fmt.Sprintf("--%s is %s, not %q", c.flag, strings.Join(c.words, " or "), text),
			usage.Again("--"+c.flag, c.words[0]))
	}
	*c.value = text
	return nil
}
