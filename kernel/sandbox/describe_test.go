package sandbox

import "testing"

// The notebook records everything that is relaxed, and nothing else.
func TestDescribe(t *testing.T) {
	for want, b := range map[string]Box{
		"full":     {Tier: Full, Multiprocessing: true},
		"builtin":  {Tier: Builtin, Limits: Limits{Memory: 1e9, Processes: 1000}},
		"off":      {Tier: Off, Net: true, Read: []string{"/a"}},
		"external": {Tier: External},
		"builtin, network allowed, graphics processors allowed, multiprocessing allowed, " +
			"may read /a, may read /b, may write /c, has A and B": {
			Tier: Builtin, Net: true, GPU: true, Multiprocessing: true, Read: []string{"/a", "/b"},
			Write: []string{"/c"}, Env: []string{"A", "B"}},
	} {
		if got := b.Describe(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
