//go:build !race

package agent

const UnderRace = false
