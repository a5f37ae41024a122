package pyenv_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"dsstar/configs"
	"dsstar/kernel/pyenv"
)

// Example downloads and installs the packages of a lock file, once per machine.
func Example() {
	python, err := pyenv.Ensure(context.Background(), pyenv.Options{Dir: "/var/cache/analyses",
		Lock: configs.PythonLock, Env: os.Environ(),
		Progress: func(line string) { log.Print(line) }})
	if err != nil {
		log.Fatal(err) // a *NoPythonError or *InstallError says what to do
	}
	fmt.Println(python)
}
