package page

import (
	"io/fs"
	"regexp"
	"slices"
	"testing"
)

// TestEscapes: templates show no text that is not escaped.
func TestEscapes(t *testing.T) {
	action := regexp.MustCompile(`\{\{-? *(.*?) *-?\}\}`)
	control := regexp.MustCompile(`^(?:if|else|with|range|end|define|template)\b|^\$\w+ :?= `)
	escaped := regexp.MustCompile(`^(?:prose|paragraphs|html|fence|path|len|plural|printf "%\.\df|safety|inc|body)\b`)
	numbers := []string{".Number", "$.Number", "$.Place", "$.Corrected", ".RoundsTaken", ".Back", ".Disputes", ".Steps", ".Task.Others", ".Calls", ".InputTokens", ".CachedTokens",
		".OutputTokens", ".Usage.InputTokens", ".Usage.OutputTokens"}
	ours := []string{"$and", ".String"}
	files, err := fs.Glob(cellTexts, "cells/*.tmpl")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		source, err := fs.ReadFile(cellTexts, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range action.FindAllStringSubmatch(string(source), -1) {
			if does := m[1]; !control.MatchString(does) && !escaped.MatchString(does) &&
				!slices.Contains(append(numbers, ours...), does) {
				t.Errorf("%s: {{%s}}", name, does)
			}
		}
	}
}
