package prompts

// The parts of the requests of agents other than DS-STAR, which benchmarks compare
// it with: package agent/bench/solver. Their words are our own; inputs, outputs and
// rules are those of the papers. Most begin with [Workplace] and [Context]. The last
// is of no agent: it scores.
type (
	// Workplace says who the model is and what it works with.
	Workplace struct {
		Code  bool // it can have code run
		Shown int  // characters of one output; 0: it is not said
	}
	// ModelOnly asks for the answer at once.
	ModelOnly struct{}
	// React says how DABstep's baseline works (section 4.1).
	React struct {
		Steps     int  // at most
		Reasoning bool // the variant for models that reason on their own
	}
	// DAAgent says how DA-Agent works (DA-Code, section 4 and appendix D).
	DAAgent struct {
		Steps   int // at most
		Seconds int // that an action may take
	}
	// AutoGen says how the assistant of AutoGen's two agents works.
	AutoGen struct{}
	// Observation is what came of an action.
	Observation struct {
		Output string
		Note   string
		Left   int // steps; 0: it is not said
	}
	// Answer asks for the answer when no step is left.
	Answer struct{}

	// InterpreterPlan asks for a plan or, if Task says which one has failed or was
	// edited, for another one (Data Interpreter, section 3.1).
	InterpreterPlan struct {
		Plan               string // JSON
		Task, Code, Result string
		Edited             bool // by a person
		Most               int  // tasks; 0: a few
	}
	// InterpreterCode asks for the code of a task, or for other code.
	InterpreterCode struct {
		Done            []Node
		Tools           []string // schemas
		Experiences     []string
		ID, Instruction string
		Tries           []Tried // at this task
	}
	// InterpreterVerify asks for code that checks a result (section 3.3.1).
	InterpreterVerify struct{ Instruction, Code, Result string }
	// InterpreterRecommend asks which tools to use (section 3.2.1).
	InterpreterRecommend struct {
		Instruction string
		Tools       []Tool
		Most        int
	}
	// InterpreterTool asks for a tool made of code, or for a repaired one (section 3.2.2).
	InterpreterTool struct {
		Instruction, Code  string
		Tool, Test, Result string
	}
	// InterpreterTest asks for the unit test of a tool.
	InterpreterTest struct{ Schema, Tool string }
	// InterpreterAnswer asks for the answer.
	InterpreterAnswer struct {
		Done []Result // but for the last
		Last Node
	}
	// InterpreterReflect asks what is to be learnt from a task (section 3.3.2).
	InterpreterReflect struct {
		Instruction, Code, Result string
		Failed                    bool
	}

	// Judge asks for one word, as KramaBench does: whether an answer means the same as
	// the right one (string_approximate).
	Judge struct{ Gold, Answer string }
)

// A Node is a task of a Data Interpreter's graph that is done.
type Node struct{ ID, Instruction, Code, Result string }

// A Result is what a task that is done gave.
type Result struct{ ID, Instruction, Result string }

// Tried is code that was run for a task, and what it gave.
type Tried struct{ Code, Result string }

// A Tool is a function by what it does.
type Tool struct{ Name, Description string }

func (Workplace) template() string            { return "workplace" }
func (ModelOnly) template() string            { return "model_only" }
func (React) template() string                { return "react" }
func (DAAgent) template() string              { return "da_agent" }
func (AutoGen) template() string              { return "autogen" }
func (Observation) template() string          { return "observation" }
func (Answer) template() string               { return "answer" }
func (InterpreterPlan) template() string      { return "interpreter_plan" }
func (InterpreterCode) template() string      { return "interpreter_code" }
func (InterpreterVerify) template() string    { return "interpreter_verify" }
func (InterpreterRecommend) template() string { return "interpreter_recommend" }
func (InterpreterTool) template() string      { return "interpreter_tool" }
func (InterpreterTest) template() string      { return "interpreter_test" }
func (InterpreterAnswer) template() string    { return "interpreter_answer" }
func (InterpreterReflect) template() string   { return "interpreter_reflect" }
func (Judge) template() string                { return "judge" }
