package bench

import "math"

// A Value is one figure of a run.
type Value struct {
	Value float64  `json:"value"`
	N     int      `json:"n"`              // number of tasks behind it
	Low   *float64 `json:"low,omitempty"`  // of the 95 % interval, for shares and scores
	High  *float64 `json:"high,omitempty"` //
}

// Mean returns the mean of values, or nil. It adds in their order, so that the result is
// reproducible bit for bit.
func Mean(values []float64) *Value {
	total := 0.0
	for _, v := range values {
		total += v
	}
	if len(values) == 0 {
		return nil
	}
	return &Value{Value: total / float64(len(values)), N: len(values)}
}

// Share returns the mean of values from 0 to 1 in per cent, with its interval, or nil.
func Share(values []float64) *Value {
	v := Mean(values)
	if v == nil {
		return nil
	}
	low, high := wilson(v.Value, v.N)
	return &Value{100 * v.Value, v.N, new(100 * low), new(100 * high)}
}

// wilson returns the 95 % interval of a share p of n tries (E. B. Wilson 1927). It also
// covers means of scores from 0 to 1, which vary less than shares.
func wilson(p float64, n int) (low, high float64) {
	const z = 1.959963984540054 // the normal quantile
	m := float64(n)
	middle := p + z*z/(2*m)
	half := z * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(0, (middle-half)/(1+z*z/m)), min(1, (middle+half)/(1+z*z/m))
}
