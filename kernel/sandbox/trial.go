package sandbox

// Seen is the only attempt that succeeds in the builtin tier.
const Seen = "see that a file outside exists"

// A Trial is the result of one forbidden action, attempted in each tier.
type Trial struct {
	Name string `json:"name"`
	// whether it succeeded in a tier; success in Off proves that the attempt is real
	Done map[Tier]bool `json:"done"`
}
