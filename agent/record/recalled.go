package record

import (
	"strings"

	"dsstar/agent/memory/lesson"
)

// Recalled is what a run was given of the memory of its data.
type Recalled struct {
	Facts   []lesson.Fact `json:"facts,omitempty"`
	Tools   []lesson.Tool `json:"tools,omitempty"`
	Example *Example      `json:"example,omitempty"` // nil: no verified question is near
}

// An Example is a verified question about the same data, whose cells the first request is shown.
type Example struct {
	Question string `json:"question"`
	Form     string `json:"form,omitempty"` // of its answer
	Cells    string `json:"cells"`
}

// ToolsComment begins the cell with the functions of memory.
const ToolsComment = "# Functions that earlier questions about these data left."

// UsedTools returns the functions of memory that the cells use, with those that these call.
func (t *Trajectory) UsedTools() []lesson.Tool {
	if t.Recalled == nil {
		return nil
	}
	return lesson.Needed(t.Recalled.Tools, strings.Join(codes(t.asked()), "\n"))
}

// Learned is what a verified answer leaves for the memory of the data.
type Learned struct {
	Facts   []lesson.Fact `json:"facts,omitempty"`
	Tools   []lesson.Tool `json:"tools,omitempty"`    // each passed its cases in a fresh process
	LeftOut []string      `json:"left_out,omitempty"` // what was not admitted, with the reason
}
