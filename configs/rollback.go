package configs

// Rollback is how a session goes back: "auto", "checkpoint", "replay" or "off".
type Rollback string

// Off reports whether sessions never go back.
func (r Rollback) Off() bool { return r == "off" }

// Replays reports whether sessions go back by running the accepted cells again.
func (r Rollback) Replays() bool { return r == "replay" }

// Insists reports whether a session without checkpoints is an error.
func (r Rollback) Insists() bool { return r == "checkpoint" }

// Freezes reports whether sessions go back by checkpoints where they can.
func (r Rollback) Freezes() bool { return !r.Off() && !r.Replays() }
