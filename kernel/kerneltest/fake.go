package kerneltest

import (
	"fmt"
	"os"
)

// A Fault is what is wrong with a fake kernel.
type Fault string

// The faults, with the reports of real kernels that had them where there are.
const (
	None Fault = "none"
	// writes "no module named ipykernel" to stderr and exits with status 1
	DiesAtStart Fault = "dies-at-start"
	NeverBinds  Fault = "never-binds" // runs and opens no socket
	// problemkernel.py's STARTUP_DELAY: opens its sockets after 2 s
	SlowStart    Fault = "slow-start"
	NeverGreets  Fault = "never-greets"  // accepts connections and says nothing at all
	NeverReplies Fault = "never-replies" // has sockets and answers nothing
	NoWelcome    Fault = "no-welcome"    // publishes nothing for the first two kernel_infos
	LostIdle     Fault = "lost-idle"     // nbclient's iopub_timeout
	ForgedIdle   Fault = "forged-idle"   // idle has a wrong signature
	LostReply    Fault = "lost-reply"    // executes, never replies
	ReplyFirst   Fault = "reply-first"   // the reply comes long before the outputs
	IdleFirst    Fault = "idle-first"    // the reply comes long after idle
	// jupyter_client, messaging.rst: a thread prints "late" 100 ms after idle
	Late Fault = "late"
	// session.py's digest history: what iopub publishes comes twice, byte by byte
	Duplicates Fault = "duplicates"
	Garbage    Fault = "garbage" // frames that are no messages, in between
	// Zed#41649: states, fields, types and dates nobody knows
	Strange   Fault = "strange"
	NullDates Fault = "null-dates" // runtimed f1a6630: dates are null or no dates
	Echoes    Fault = "echoes"     // IJulia: its session is that of the request
	// ipykernel#1554: sees requests only when somebody connects
	Stranded Fault = "stranded"
	Aborts   Fault = "aborts"   // the first answer to a request is "aborted"
	HangsUp  Fault = "hangs-up" // closes its connections in the cell, and lives
	Forgets  Fault = "forgets"  // takes execute_request up and never says anything
	NoStdin  Fault = "no-stdin" // Zed#56918: has no stdin socket
	// ipykernel before 6: answers control between cells only
	NoControl Fault = "no-control"
	// signalkernel.py: ignores requests to shut down or stop, SIGINT and SIGTERM
	Deaf Fault = "deaf"
	// problemkernel.py's NO_SHUTDOWN_REPLY: ignores shutdown_request, dies of SIGINT
	NoShutdownReply Fault = "no-shutdown-reply"
	// signalkernel.py: has two children, the second in a session of its own
	Grandchildren Fault = "grandchildren"
)

// command marks the arguments of a fake kernel.
const command = "kerneltest-fake-kernel"

// Argv returns the argv of a kernelspec for a fake kernel with the given
// fault: the running test program, whose TestMain must call [Main] first.
func Argv(f Fault) []string {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return []string{self, command, string(f), "{connection_file}"}
}

// Main runs a fake kernel to its end, and reports true, if args are what
// [Argv] says. Whatever its fault, it takes its sockets from the connection
// file, over TCP or Unix sockets, chooses the ports that are 0 and writes them
// there, signs nothing if the key is empty, and understands cells whose lines
// are
//
//	print("text")   eprint("text")  to stdout and stderr
//	raise                           an error
//	sleep           sleep 1.5       a minute; seconds; an interrupt ends it
//	die             kill            prints "dying" and exits with status 7; kills itself
//	input                           asks the user and prints what he says
//	flood 1000      flood 1000 displays  that many messages as fast as it can
//	children                        prints the process ids of the children
//	display image/png               display_data of that type
//	result 42       page text       execute_result; a payload for the pager
//	clear                           clear_output
//
// Other lines do nothing.
func Main(args []string) bool {
	if len(args) != 4 || args[1] != command {
		return false
	}
	if err := fake(Fault(args[2]), args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "fake kernel:", err)
		os.Exit(1)
	}
	return true
}
