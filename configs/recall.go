package configs

import (
	"slices"
	"strings"
)

// Recall takes the models that a run has asked, the main one and those of roles, and reports
// whether it does. It does not where a flag or variable names the main one. The notebook of the run may
// come from a stranger: like a project's file it cannot name a recording, or a provider that the user
// did not choose.
func (s *Settings) Recall(model string, roles map[string]string) bool {
	names := []string{model}
	for _, name := range roles {
		names = append(names, name)
	}
	if s.Given("model") || slices.ContainsFunc(names, func(name string) bool {
		return s.redirects("model", name, nil) != ""
	}) {
		return false
	}
	s.Model = model
	for role, name := range roles {
		if _, known := s.Models[role]; known && !s.Given("models."+role) {
			s.Models[role] = name
		}
	}
	return true
}

// Given reports whether a flag or variable sets a key.
func (s *Settings) Given(key string) bool {
	set := s.won[strings.ReplaceAll(key, ".", separator)]
	return set.value != "" && (strings.HasPrefix(set.source, flagSource) ||
		strings.HasPrefix(set.source, envSource))
}
