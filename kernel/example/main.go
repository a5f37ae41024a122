// Command example runs one cell in a Jupyter kernel and shows its outputs as they arrive. Ctrl-C
// interrupts the cell.
//
//	example start python3 'print(6 * 7)'                         # a new kernel of this Python
//	example attach newest 'x'                                    # a running one, as a guest
//	example dial 'http://localhost:8888/?token=…' 'print(6 * 7)' # a new one on a server
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"

	"dsstar/kernel"
	"dsstar/notebook"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: example start|attach|dial WHERE CODE")
		os.Exit(2)
	}
	status, err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3])
	if err != nil {
		fmt.Fprintln(os.Stderr, "example:", err)
		os.Exit(1)
	}
	fmt.Println(status)
}

// run runs a cell in a kernel.
func run(ctx context.Context, way, where, code string) (status notebook.Status, err error) {
	k, err := open(ctx, way, where)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, k.Close()) }()

	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	go func() {
		for range interrupts {
			k.Interrupt()
		}
	}()
	x, err := k.ExecuteCell(ctx, kernel.Cell{Code: code, Observe: show})
	return x.Status, err
}

// open starts, joins or dials a kernel.
func open(ctx context.Context, way, where string) (*kernel.Kernel, error) {
	switch way {
	case "start":
		python, err := exec.LookPath(where)
		if err != nil {
			return nil, err
		}
		return kernel.Start(ctx, kernel.Options{Spec: kernel.PythonSpec(python), Env: os.Environ()})
	case "attach":
		home, _ := os.UserHomeDir() // then only the variables of Jupyter count
		found := kernel.Discover(ctx, kernel.Lookup{Getenv: os.Getenv, Home: home})
		running, err := kernel.Choose(where, found.Kernels)
		if err != nil {
			return nil, err
		}
		return kernel.Attach(ctx, running.File, kernel.Options{})
	case "dial":
		server, err := kernel.NewServer(where, os.Getenv("JUPYTER_TOKEN"))
		if err != nil {
			return nil, err
		}
		return kernel.Dial(ctx, server, "", kernel.Options{})
	}
	return nil, fmt.Errorf("%s is none of start, attach and dial", way)
}

// show prints a piece of output.
func show(o notebook.Output) {
	switch o.Type {
	case notebook.Stream:
		fmt.Print(o.Text)
	default:
		fmt.Println(o.PlainText())
	}
}
