package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"dsstar/kernel"
	"dsstar/kernel/kerneltest"
	"dsstar/notebook"
)

// spec is a kernelspec of a fake kernel that speaks the protocol, and understands print, sleep and
// raise. kernel.PythonSpec and kernel.FindSpec give the specs of real kernels.
var spec = kernel.Spec{Argv: kerneltest.Argv(kerneltest.None), Language: "python"}

func ExampleStart() {
	ctx := context.Background()
	k, err := kernel.Start(ctx, kernel.Options{Spec: spec, Env: os.Environ()})
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

// A guest finds a running kernel through Jupyter's runtime folder, and leaves it as it was.
func ExampleAttach() {
	ctx := context.Background()
	found := kernel.Discover(ctx, kernel.Lookup{Getenv: os.Getenv})
	running, err := kernel.Choose(kernel.Newest, found.Kernels)
	if err != nil {
		log.Fatal(err)
	}
	k, err := kernel.Attach(ctx, running.File, kernel.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer k.Close() // the kernel still runs
}

// A Jupyter Server, a hub or a gateway runs the kernel.
func ExampleDial() {
	ctx := context.Background()
	server, err := kernel.NewServer("http://localhost:8888/lab?token=abc", "") // as copied
	if err != nil {
		log.Fatal(err)
	}
	k, err := kernel.Dial(ctx, server, "", kernel.Options{Spec: kernel.Spec{Name: "python3"}})
	if refused, ok := errors.AsType[*kernel.ServerError](err); ok && refused.Credentials() {
		log.Fatal("the token is wrong: ", err)
	}
	if err != nil {
		log.Fatal(err)
	}
	defer k.Close() // ends the kernel, as we started it
}

// Outputs can be had while the cell runs; all of them are in the Execution, too. An interrupted cell
// raises an exception, and the kernel runs on.
func ExampleKernel_ExecuteCell() {
	ctx := context.Background()
	k, err := kernel.Start(ctx, kernel.Options{Spec: spec, Env: os.Environ()})
	if err != nil {
		log.Fatal(err)
	}
	defer k.Close()

	x, err := k.ExecuteCell(ctx, kernel.Cell{
		Code:    "print(\"one\")\nsleep 0.1\nprint(\"two\")\nsleep",
		Timeout: time.Minute,
		Observe: func(o notebook.Output) {
			if o.Type == notebook.Stream {
				fmt.Print("now: ", o.Text)
			}
			if o.Text == "two\n" {
				k.Interrupt()
			}
		},
	})
	exception, _ := x.Error()
	fmt.Printf("%s %q %s %v %v\n", x.Status, x.Stdout(), exception.EName, k.Alive(), err)
	// Output:
	// now: one
	// now: two
	// error "one\ntwo\n" KeyboardInterrupt true <nil>
}
