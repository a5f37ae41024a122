package record

// A Method says which method a run follows, and what is left out of it. The zero value is dsstar's
// own method; docs/method.md describes both.
type Method struct {
	Agent      string `json:"agent,omitempty"`       // whose method it is; "": dsstar, see [agent.Baseline]
	Script     bool   `json:"script,omitempty"`      // DS-STAR as published: every round writes a script
	NoAnalyzer bool   `json:"no_analyzer,omitempty"` // the model sees names of files only
	NoRouter   bool   `json:"no_router,omitempty"`   // the paper's: steps are only added
	PlanOnly   bool   `json:"plan_only,omitempty"`   // the paper's: the verifier sees only the plan
	NoReadings bool   `json:"no_readings,omitempty"` // dsstar's: the first reply names no readings
	NoSecond   bool   `json:"no_second,omitempty"`   // dsstar's: the answer is derived once
}

// Profiles reports whether a program describes the files.
func (m Method) Profiles() bool { return !m.Script && !m.NoAnalyzer }
