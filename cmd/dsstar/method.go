package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dsstar/agent/llm"
	"dsstar/agent/record"
	"dsstar/cmd/dsstar/internal/usage"
	"dsstar/configs"
	"dsstar/notebook/human"
)

// method converts the settings of the method.
func method(s configs.Method) record.Method {
	m := record.Method{Script: s.Paper, NoAnalyzer: s.Analyzer == "none", NoRouter: !s.Router,
		PlanOnly: s.VerifierInput == "query-plan"}
	if !s.Paper {
		m.NoSecond, m.NoReadings = !s.Second, !s.Readings
	}
	return m
}

// checkMethod rejects settings that contradict each other.
func checkMethod(s *configs.Settings) error {
	m := method(s.Method)
	if (m.NoRouter || m.PlanOnly) && !m.Script {
		return usage.New("--no-router and --verifier-input are of the paper's method", usage.Again("--paper"))
	}
	return nil
}

// modelOf returns the name of a role's model.
func modelOf(s *configs.Settings, role string) string {
	return cmp.Or(s.Models[role], s.Model)
}

// prices returns the prices of the roles' models, or nil if the price of the main model is unknown.
func prices(s *configs.Settings) func(role string) (llm.Price, bool) {
	if _, ok := s.Price(s.Model); !ok {
		return nil
	}
	return func(role string) (llm.Price, bool) {
		p, ok := s.Price(modelOf(s, role))
		return llm.Price(p), ok
	}
}

// checkBudget rejects --max-cost if the price of a model is unknown.
func checkBudget(s *configs.Settings) error {
	if s.MaxCost == 0 || strings.HasPrefix(s.Model, replayPrefix) {
		return nil // a replay costs nothing
	}
	for _, role := range append([]string{""}, roleNames(s)...) {
		name := modelOf(s, role)
		if _, ok := s.Price(name); !ok {
			row, paid := fmt.Sprintf(`"%s": {input: 1.25, cached: 0.13, output: 10}`,
				name), "   # US dollars a million tokens: put in what you pay"
			hint := ownFile(s.UserFile) +
				fmt.Sprintf(`echo 'prices: {%s}' >> %s%s`, row, human.Shell(s.UserFile), paid)
			if len(s.Prices) > 0 || s.UserFile == "" {
				hint = fmt.Sprintf(
					"%s   # belongs under prices: in your settings; US dollars per million tokens", row)
			}
			return usage.New(fmt.Sprintf("--max-cost: the price of %s is unknown", name),
				usage.Shell(hint))
		}
	}
	return nil
}

// roleNames returns the roles with a model of their own, in order.
func roleNames(s *configs.Settings) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.Models)),
		func(role string) bool { return s.Models[role] == "" })
}
