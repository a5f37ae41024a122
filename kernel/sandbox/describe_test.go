package sandbox

import "testing"

// The notebook records everything that is relaxed, and nothing else.
func TestDescribe(t *testing.T) {
	usual := Limits{Memory: 4e9, Processes: 256, File: 2e9, Folder: 4e9}
	for want, b := range map[string]Box{
		"full":     {Tier: Full, Limits: usual, Multiprocessing: true},
		"builtin":  {Tier: Builtin, Limits: Limits{Memory: 1e9, Processes: 16, File: 1, Folder: 1}},
		"off":      {Tier: Off, Net: true, Read: []string{"/a"}},
		"external": {Tier: External, Limits: Limits{Memory: 99e9}},
		"full, files up to any size, all files up to any size": {Tier: Full,
			Limits: Limits{Memory: 4e9, Processes: 256}},
		"builtin, network allowed, graphics processors allowed, multiprocessing allowed, " +
			"may read /a, may read /b, may write /c, has A and B, memory up to 8 GB, " +
			"up to 1000 processes, files up to 3 GB, all files up to 5 GB": {
			Tier: Builtin, Net: true, GPU: true, Multiprocessing: true, Read: []string{"/a", "/b"},
			Write: []string{"/c"}, Env: []string{"A", "B"},
			Limits: Limits{Memory: 8e9, Processes: 1000, File: 3e9, Folder: 5e9}},
	} {
		if got := b.Describe(usual); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
