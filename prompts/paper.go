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

// Parts of the requests of the agents in package agent/bench/solver, which benchmarks compare with
// DS-STAR. The wording is our own; inputs, outputs and rules are the papers'. Most requests begin
// with [Workplace] and [Context]. Grader belongs to no agent: it scores answers.
type (
	// Workplace says who the model is and what it works with.
	Workplace struct {
		Code  bool // the model can run code
		Shown int  // limit of one output, in characters; 0: not mentioned
	}
	// ModelOnly asks for the answer immediately.
	ModelOnly struct{}
	// React says how DABstep's baseline works (section 4.1).
	React struct {
		Steps     int  // maximum
		Reasoning bool // the variant for models that reason on their own
	}
	// DAAgent says how DA-Agent works (DA-Code, section 4 and appendix D).
	DAAgent struct {
		Steps   int // maximum
		Seconds int // time limit of an action
	}
	// AutoGen says how the assistant of AutoGen's two agents works.
	AutoGen struct{}
	// Observation is the result of an action.
	Observation struct {
		Output string
		Note   string
		Left   int // steps left; 0: not mentioned
	}
	// Answer asks for the answer when no step is left.
	Answer struct{}

	// InterpreterPlan asks for a plan or, if Task is a task that has failed, for a changed plan
	// (Data Interpreter, section 3.1).
	InterpreterPlan struct {
		Plan               string // JSON
		Task, Code, Result string
		Most               int // maximum number of tasks; 0: a few
	}
	// InterpreterCode asks for the code of a task or, after Tries, for different code.
	InterpreterCode struct {
		Done            []Node
		ID, Instruction string
		Tries           []Tried // earlier tries at this task
	}
	// InterpreterVerify asks for code that checks a result (section 3.3.1).
	InterpreterVerify struct{ Instruction, Code, Result string }
	// InterpreterAnswer asks for the answer.
	InterpreterAnswer struct {
		Done []Node // all but the last
		Last Node
	}

	// Grader asks for one word, as KramaBench does: whether an answer means the same as the correct one
	// (string_approximate).
	Grader struct{ Gold, Answer string }
)

// A Node is a completed task in Data Interpreter's graph.
type Node struct{ ID, Instruction, Code, Result string }

// Tried is code that was run for a task, with its result.
type Tried struct{ Code, Result string }
