package record

// A Method says which elements of the loop are changed or left out. The zero
// value is dsstar's own method with everything on; docs/method.md has the table.
type Method struct {
	Script         bool `json:"script,omitempty"`          // each round writes a whole script
	NoAnalyzer     bool `json:"no_analyzer,omitempty"`     // the model sees the names of files only
	ModelAnalyzer  bool `json:"model_analyzer,omitempty"`  // the model describes all files
	NoRouter       bool `json:"no_router,omitempty"`       // steps are only added
	PlanOnly       bool `json:"plan_only,omitempty"`       // the verifier sees question and plan alone
	NoReasons      bool `json:"no_reasons,omitempty"`      // the verdict does not say what is missing
	NoFamilies     bool `json:"no_families,omitempty"`     // every file is described for itself
	NoFormCheck    bool `json:"no_form_check,omitempty"`   // the answer's form is not checked
	NoComputed     bool `json:"no_computed,omitempty"`     // the last cell may print a constant
	NoUnfinished   bool `json:"no_unfinished,omitempty"`   // the router is always asked
	NoInconclusive bool `json:"no_inconclusive,omitempty"` // no verdict that the data hold no answer
	Candidates     int  `json:"candidates,omitempty"`      // cells for each step; 0: 1
}

// Paper is the method as DS-STAR was published: Algorithm 1 and Appendix H.
func Paper() Method {
	return Method{
		Script: true, NoReasons: true, NoFamilies: true, NoFormCheck: true, NoComputed: true,
		NoUnfinished: true, NoInconclusive: true,
	}
}

// Profiles reports whether a program describes the files, and the model only those that the
// program does not understand.
func (m Method) Profiles() bool { return !m.Script && !m.ModelAnalyzer && !m.NoAnalyzer }
