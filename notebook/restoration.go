package notebook

// A Way is how a session was restored.
type Way string

// The ways to restore a session.
const (
	ByCheckpoint Way = "checkpoint" // a checkpoint of the session continued
	ByReplay     Way = "replay"     // a new session ran the cells again
	// in somebody else's kernel: names were reset, and the cells ran again
	ByNames Way = "names"
)

// A Restoration describes how a session was restored to the state after some cells.
type Restoration struct {
	// results of the cells: the first Kept are from earlier runs, the others are
	// new; they end at the first one that is not OK
	Executions []Execution `json:"-"`
	Way        Way         `json:"way"`
	Kept       int         `json:"kept,omitempty"` // cells that did not run again
	// why no checkpoint was used, in one line; "": one was used, or none could be
	Why     string  `json:"why,omitempty"`
	Seconds float64 `json:"seconds,omitempty"` // until the next cell could run
}
