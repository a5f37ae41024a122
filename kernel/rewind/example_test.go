package rewind_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"dsstar/kernel"
	"dsstar/kernel/kerneltest"
	"dsstar/kernel/rewind"
)

// The kernel here is a fake that cannot freeze copies of itself, so that the cells run again;
// rewind.Spec gives the spec of one that can.
func ExampleSession_Rollback() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	k, err := kernel.Start(ctx, kernel.Options{
		Spec: kernel.Spec{Argv: kerneltest.Argv(kerneltest.None), Language: "python"},
		Env:  os.Environ(),
	})
	if err != nil {
		log.Fatal(err)
	}
	s := rewind.New(k, rewind.Options{})
	defer s.Close()

	for _, cell := range []string{`print("one")`, `print("two")`} {
		if _, err := s.Execute(ctx, cell); err != nil {
			log.Fatal(err)
		}
	}
	back, err := s.Rollback(ctx, []string{`print("one")`})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(back.Way, ": ", back.Executions[0].Stdout())
	// Output:
	// replay: one
}
