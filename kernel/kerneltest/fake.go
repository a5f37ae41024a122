// Package kerneltest has test tools for kernels: real Jupyter servers, and a fake kernel that speaks the
// wire protocol and shows, on demand, the rare faults of real kernels ([Argv], [Main]).
package kerneltest

import (
	"log"
	"os"
)

// A Fault is a fault of a fake kernel.
type Fault string

// The faults, with reports of real kernels that have them.
const (
	None Fault = "none"
	// problemkernel.py's STARTUP_DELAY: opens its sockets after 300 ms
	SlowStart    Fault = "slow-start"
	NeverGreets  Fault = "never-greets"  // ends no handshake of a connection to shell
	NeverReplies Fault = "never-replies" // never replies
	NoWelcome    Fault = "no-welcome"    // publishes nothing for the first two kernel_infos
	LostIdle     Fault = "lost-idle"     // nbclient's iopub_timeout
	ForgedIdle   Fault = "forged-idle"   // the status idle has an invalid signature
	LostReply    Fault = "lost-reply"    // executes, never replies
	ReplyFirst   Fault = "reply-first"   // the reply comes long before the outputs
	IdleFirst    Fault = "idle-first"    // the reply comes long after idle
	// jupyter_client, messaging.rst: a thread prints "late" 100 ms after idle
	Late Fault = "late"
	// session.py's digest history: iopub messages come twice, identically
	Duplicates Fault = "duplicates"
	Garbage    Fault = "garbage" // invalid frames between messages
	// Zed#41649: unknown states, fields, types and dates
	Strange   Fault = "strange"
	NullDates Fault = "null-dates" // runtimed f1a6630: dates are null or invalid
	Echoes    Fault = "echoes"     // IJulia: it echoes the request's session
	// ipykernel#1554: sees requests only when a client connects
	Stranded Fault = "stranded"
	Aborts   Fault = "aborts"  // the first answer to a request is "aborted"
	Forgets  Fault = "forgets" // accepts execute_request and sends nothing more
	// ipykernel before 6: answers control only between cells
	NoControl Fault = "no-control"
	// signalkernel.py: ignores requests to shut down or stop, SIGINT and SIGTERM
	Deaf Fault = "deaf"
	// problemkernel.py's NO_SHUTDOWN_REPLY: ignores shutdown_request, dies of SIGINT
	NoShutdownReply Fault = "no-shutdown-reply"
)

// command marks the arguments of a fake kernel.
const command = "kerneltest-fake-kernel"

// Argv returns a kernelspec's argv for a fake kernel with the fault. It runs the test program,
// whose TestMain must call [Main] first.
func Argv(f Fault) []string {
	return []string{must(os.Executable()), command, string(f), "{connection_file}"}
}

// Main runs a fake kernel to its end and reports true, if args are those of [Argv]. The kernel
// understands cells with the lines
//
//	print("text")                   to stdout
//	raise                           an error
//	sleep           sleep 1.5       a minute; seconds; an interrupt ends it
//	die             kill            prints "dying" and exits with status 7; kills itself
//	flood 1000                      that many displays as fast as it can
//
// Other lines do nothing.
func Main(args []string) bool {
	if len(args) != 4 || args[1] != command {
		return false
	}
	log.Fatal("fake kernel: ", fake(Fault(args[2]), args[3])) // it exits by itself
	return true
}
