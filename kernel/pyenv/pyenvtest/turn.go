package pyenvtest

import (
	"os"
	"strconv"
	"testing"
)

// turns is how many commits it takes until all long tests were in turn.
const turns = 3

// Turn leaves a long test out where DSSTAR_TEST_TURN names another turn, of 0 to 2. CI names one: all tests take longer
// on two cores than a commit should wait. Without it all are run.
func Turn(t testing.TB, turn int) {
	t.Helper()
	if now := os.Getenv("DSSTAR_TEST_TURN"); now != "" && now != strconv.Itoa(turn%turns) {
		t.Skipf("not in turn: with DSSTAR_TEST_TURN=%d, or without it", turn%turns)
	}
}
