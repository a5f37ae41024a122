package sandbox_test

import (
	"os"
	"testing"

	"dsstar/kernel/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main(os.Args)
	os.Exit(m.Run())
}
