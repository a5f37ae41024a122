package kernel_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"dsstar/kernel"
	"dsstar/kernel/kerneltest"
)

// The kernel here is a fake that speaks the protocol; kernel.PythonSpec and kernel.FindSpec give
// the specs of real ones.
func ExampleStart() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	k, err := kernel.Start(ctx, kernel.Options{
		Spec: kernel.Spec{Argv: kerneltest.Argv(kerneltest.None), Language: "python"},
		Env:  os.Environ(),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer k.Close()

	x, err := k.Execute(ctx, `print("hello")`)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(x.Status, ": ", x.Stdout())

	// What a cell causes is not an error: it is in the Execution.
	x, err = k.Execute(ctx, "raise")
	fmt.Println(x.Status, err)
	// Output:
	// ok: hello
	// error <nil>
}
