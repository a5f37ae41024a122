package mcp

type askArgs struct {
	Question   string   `json:"question"`
	Data       []string `json:"data,omitempty"`
	Kernel     string   `json:"kernel,omitempty"`
	Guidelines string   `json:"guidelines,omitempty"`
}

type followUpArgs struct {
	Question   string `json:"question"`
	Run        string `json:"run,omitempty"`
	Guidelines string `json:"guidelines,omitempty"`
}

type continueArgs struct {
	Run string `json:"run,omitempty"`
}

type goBackArgs struct {
	Step int    `json:"step"`
	Note string `json:"note,omitempty"`
	Run  string `json:"run,omitempty"`
}

type describeArgs struct {
	Data     string `json:"data,omitempty"`
	Question string `json:"question,omitempty"`
}

type runsArgs struct {
	Words []string `json:"words,omitempty"`
}

type rerunArgs struct {
	Notebook string `json:"notebook,omitempty"`
	Data     string `json:"data,omitempty"`
	Write    bool   `json:"write,omitempty"`
}

// arguments are what a model is told of the arguments: of one tool, as tool.argument, or of all.
var arguments = map[string]string{
	"ask.question": "the whole question, in plain language, as for a colleague who knows the files " +
		"but not this conversation",
	"ask.data": "what the question is about: paths of folders or files, or patterns such as " +
		"sales/*.csv; default: all that this server may read",
	"ask.kernel": "ask about the variables of this running Jupyter kernel (a name of list_kernels, " +
		"or the path of its notebook), perhaps with data; only if the user asks for it",
	"guidelines": "the form of the answer, such as: a number with two decimals",

	"follow_up.question": "the next question; it may refer to the one before",
	"run":                "the name or folder of the run; default: the newest",

	"step": "the number of the first step to drop, from 1, as the headings of the notebook have it",
	"note": "what to do otherwise, in a sentence; without it the same step may be written again",

	"describe_data.data":     "the path of one folder or file; default: the server's first folder",
	"describe_data.question": "what will be asked, which chooses files if there are very many",

	"words": "only runs whose question, answer or name has all these words",

	"notebook":            "the path of any notebook, or a run; default: the newest run",
	"rerun_notebook.data": "another data folder than the notebook's",
	"write":               "write NAME.rerun.ipynb beside it, instead of comparing outputs",
}
