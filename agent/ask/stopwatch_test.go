package ask

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestStopwatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w Stopwatch
		step := func(want float64) {
			time.Sleep(time.Second) // of the test's own clock
			if got := w.Seconds(); got != want {
				t.Errorf("%v seconds, want %v", got, want)
			}
		}
		step(0)
		a := w.Start()
		step(1)
		b := w.Start()
		step(2)
		a()
		step(3)
		b()
		step(3)
		c := w.Start()
		step(4)
		c()
		step(4)
	})
}
