package sandbox

// Seen is the one trial that the builtin tier leaves open.
const Seen = "see that a file outside exists"

// A Trial is what has come of trying a forbidden thing for real in each tier.
type Trial struct {
	Name string        `json:"name"`
	Done map[Tier]bool `json:"done"` // whether it could be done; Off is the proof that the attempt is one
}
