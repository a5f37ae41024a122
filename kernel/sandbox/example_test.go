package sandbox_test

import (
	"log"
	"os"
	"os/exec"

	"dsstar/kernel"
	"dsstar/kernel/sandbox"
)

// A Box can be the sandbox of a kernel, and explains what it causes.
var _ interface {
	kernel.Sandbox
	kernel.Advisor
} = sandbox.Box{}

// Example runs a script that can read data/, write out/, and reach nothing else of the user's. A
// program that uses this package calls [sandbox.Main] first: it starts itself to set the box up.
func Example() {
	sandbox.Main(os.Args)
	tier, _, err := sandbox.Choose("auto")
	if err != nil {
		log.Fatal(err) // says what to install
	}
	private, err := os.MkdirTemp("", "box-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(private)
	box := sandbox.Box{Tier: tier, Read: []string{"/srv/data"}}
	cmd, err := box.Command(exec.Command("/usr/bin/python3", "-I", "analyse.py"), sandbox.Session{
		Private: private,
		Write:   []string{"/srv/out"},
	})
	if err != nil {
		log.Fatal(err)
	}
	cmd.Stdout = os.Stdout
	if err := cmd.Run(); err != nil {
		log.Fatal(err)
	}
}
