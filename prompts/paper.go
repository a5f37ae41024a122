package prompts

// The parts of the requests of the method as published, with the listing of Appendix H in brackets.
// Each round writes a whole script. [Context], [Analyzer], [DebuggerScript], [Summarizer] and
// [Reask] are shared with the default method.
type (
	// PaperSystem says who the model is and what it works with.
	PaperSystem struct{ Environment string }
	// PaperScript is the plan and the script that carries it out. Fields that a role must not see
	// are empty.
	PaperScript struct {
		Plan   []string
		Code   string
		Ran    bool
		Output string
	}
	// PaperPlanner asks for the next step [47, 48].
	PaperPlanner struct {
		First bool // no step was proposed yet
		Done  bool // the plan has steps
	}
	// PaperCoder asks for the script with one more step [49, 50].
	PaperCoder struct {
		Number int
		Step   string
		First  bool
	}
	// PaperVerifier asks whether the plan suffices [51]. There is no Context before it.
	PaperVerifier struct {
		Question string
		PlanOnly bool // there is neither code nor output to judge
	}
	// PaperRouter asks how to refine the plan [52].
	PaperRouter struct{ Steps int }
	// PaperFinalizer asks for the script that prints the answer [53].
	PaperFinalizer struct{ Guidelines bool }
	// PaperDebugger asks for a repaired script [56].
	PaperDebugger Debugger
)
