package notebook

// A Way is how a session went back.
type Way string

// The ways back.
const (
	ByCheckpoint Way = "checkpoint" // a frozen copy of the session went on
	ByReplay     Way = "replay"     // the session began again, and the cells ran again
	// in somebody else's kernel: names were put right, and the cells ran again
	ByNames  Way = "names"
	NotAtAll Way = "off" // it stayed as it was
)

// A Restoration is what it took to bring a session back to what cells produce.
type Restoration struct {
	// What the cells gave: the first Kept of them when they ran before, the others
	// now. They end at the first one that is not OK.
	Executions []Execution `json:"-"`
	Way        Way         `json:"way"`
	Kept       int         `json:"kept,omitempty"` // cells that did not run again
	// why it was not a checkpoint, in one line; "" if there was no question of one
	Why     string  `json:"why,omitempty"`
	Seconds float64 `json:"seconds,omitempty"` // until the next cell could run
}
