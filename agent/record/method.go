package record

// A Method says which method a run follows, and what is left out of it. The zero value is dsstar's
// own method; docs/method.md describes both.
type Method struct {
	Script     bool `json:"script,omitempty"`      // DS-STAR as published: every round writes a script
	NoAnalyzer bool `json:"no_analyzer,omitempty"` // the model sees names of files only
	NoRouter   bool `json:"no_router,omitempty"`   // the paper's: steps are only added
	PlanOnly   bool `json:"plan_only,omitempty"`   // the paper's: the verifier sees only the plan
	NoReadings bool `json:"no_readings,omitempty"` // dsstar's: the first reply names no readings
	NoSecond   bool `json:"no_second,omitempty"`   // dsstar's: the answer is derived once
	Candidates int  `json:"candidates,omitempty"`  // dsstar's: cells for each step; 0: 1
	Former
}

// Former are the switches of runs that were recorded by earlier versions. They are shown, and
// nothing else reads them.
type Former struct {
	NoReasons      bool `json:"no_reasons,omitempty"`      // the verdict did not say what is missing
	NoDocuments    bool `json:"no_documents,omitempty"`    // documents got a script, too
	NoFamilies     bool `json:"no_families,omitempty"`     // every file got a script of its own
	NoFormCheck    bool `json:"no_form_check,omitempty"`   // the answer's form was not checked
	NoComputed     bool `json:"no_computed,omitempty"`     // the last cell could print a constant
	NoUnfinished   bool `json:"no_unfinished,omitempty"`   // the router was always asked
	NoInconclusive bool `json:"no_inconclusive,omitempty"` // no verdict that the data hold no answer
}

// Paper is the method as DS-STAR was published: Algorithm 1 and Appendix H.
func Paper() Method { return Method{Script: true} }

// Gone lists the switches of a recorded run that no longer change its method. The paper's method
// is what it was with all of [Former].
func (m Method) Gone() []string {
	if m.Script {
		return nil
	}
	var gone []string
	for _, s := range []struct {
		name string
		on   bool
	}{
		{"--no-router", m.NoRouter}, {"--verifier-input", m.PlanOnly}, {"--no-reasons", m.NoReasons},
		{"--no-documents", m.NoDocuments}, {"--no-families", m.NoFamilies},
		{"--no-form-check", m.NoFormCheck}, {"--no-computed", m.NoComputed},
		{"--no-unfinished", m.NoUnfinished}, {"--no-inconclusive", m.NoInconclusive},
	} {
		if s.on {
			gone = append(gone, s.name)
		}
	}
	return gone
}

// Profiles reports whether a program describes the files.
func (m Method) Profiles() bool { return !m.Script && !m.NoAnalyzer }
