//go:build race

package agent

// UnderRace: the race detector makes a run of the loop ten times as long.
const UnderRace = true
