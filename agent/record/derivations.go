package record

// Counts say how often what was derived beside the accepted cells changed anything, by their names
// in JSON, which are a contract: see docs/benchmarks.md. nil: the method has none of it.
type Counts map[string]int

// Derivations counts those of all questions; nil for other agents' methods, which have none.
func (t *Trajectory) Derivations() Counts {
	if t.Method.Script || t.Method.Agent != "" {
		return nil
	}
	c := Counts{"readings": 0, "changed": 0, "second_derivations": 0, "agreed": 0, "corrected": 0}
	for _, q := range t.Questions {
		c["readings"] += len(q.Readings)
		c["changed"] += len(q.OpenReadings())
		if s := q.Second; s != nil {
			c["second_derivations"]++
			c["corrected"] += len(s.Rejected)
			if s.Agrees {
				c["agreed"]++
			}
		}
	}
	return c
}
