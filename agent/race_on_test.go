//go:build race

package agent_test

// underRace: the race detector makes a run of the loop ten times as long.
const underRace = true
