package kerneltest

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if Main(os.Args) {
		return
	}
	goleak.VerifyTestMain(m)
}
