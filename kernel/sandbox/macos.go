package sandbox

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// sandboxExec is macOS's own, which takes a profile and becomes the program.
const sandboxExec = "/usr/bin/sandbox-exec"

// seatbelted returns the command of the stage under a profile, which is written to the session's
// private folder. There is no guard: the command is the program itself, and what leaves its process
// group outlives it. Nor are there limits: RLIMIT_DATA is not enforced by macOS, and RLIMIT_NPROC
// counts all of the user's processes.
func (st stage) seatbelted(private string) (*exec.Cmd, error) {
	private, err := realPath(private)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(private, "sandbox.sb")
	if err := writeNew(file, []byte(seatbelt(profile{Write: st.Write, Read: st.Read, Own: st.Own, Private: private, Net: st.Box.Net}))); err != nil {
		return nil, err
	}
	return &exec.Cmd{Path: sandboxExec, Args: append([]string{sandboxExec, "-f", file}, st.Argv...), Dir: st.Dir, Env: st.Env}, nil
}

// A profile is what a kernel on macOS may do. Paths are canonical, that is absolute and without
// symbolic links, as Seatbelt compares them: /private/tmp, not /tmp.
type profile struct {
	// folders that it may change: the run's, and its own for caches and temporary files
	Write []string
	Read  []string // folders and files besides the system's: the data, Python
	// folders that it cannot read even where Read has them, but for what is in Read and Write of
	// them
	Own     []string
	Private string // folder of the sockets and the connection file; it may change it too
	Net     bool   // whether it may use the network
}

// seatbelt renders p for sandbox-exec of macOS. It is experimental: nobody has run it on macOS yet.
// What is not allowed is denied, and a path that is not canonical, or is / itself, allows nothing.
//
// Some of what stays denied would let a cell out. Services: securityd has the keychain,
// launchservicesd and lsd start programs outside, the pasteboard is the user's. kern.procargs2
// shows the environment of the user's other processes, and with it API keys.
func seatbelt(p profile) string {
	var b strings.Builder
	b.WriteString(seatbeltBase)
	do := "allow"
	rule := func(filter string, operations string, paths ...string) {
		for _, path := range paths {
			if path == filepath.Clean(path) && path != "/" && strings.HasPrefix(path, "/") {
				b.WriteString("(" + do + " " + operations + " (" + strings.ReplaceAll(filter, "PATH", schemeString(path)) + "))\n")
			}
		}
	}
	b.WriteString("\n; what this run needs\n")
	rule("subpath PATH", "file-read*", p.Read...)
	do = "deny" // the last rule counts
	rule("subpath PATH", "file-read-data", p.Own...)
	do = "allow"
	for _, path := range p.Read {
		if slices.ContainsFunc(p.Own, func(own string) bool { return path != own && in(path, own) }) {
			rule("subpath PATH", "file-read*", path)
		}
	}
	rule("subpath PATH", "file-read* file-write*", p.Write...)
	rule("subpath PATH", "file-read* file-write*", p.Private)
	// A file rule is not enough for a Unix socket. The kernel's debugger connects to its own shell
	// socket, and multiprocessing to sockets among temporary files.
	for _, folder := range append([]string{p.Private}, p.Write...) {
		rule("local unix-socket (subpath PATH)", "network-bind network-inbound", folder)
		rule("remote unix-socket (subpath PATH)", "network-outbound", folder)
	}
	if p.Net {
		b.WriteString(seatbeltNet)
	}
	return b.String()
}

// schemeString quotes s as the profile's language does, whose strings hold everything but these two
// as it stands.
func schemeString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

const seatbeltBase = `(version 1)
(deny default)

; processes: their children have the same profile
(allow process-exec)
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))

; the system: programs, libraries, fonts, time zones; nobody's home
(allow file-read*
  (literal "/")
  (subpath "/bin") (subpath "/sbin") (subpath "/usr") (subpath "/System")
  (subpath "/Library/Fonts") (subpath "/Library/Frameworks") (subpath "/Library/Developer/CommandLineTools")
  (subpath "/opt/homebrew/Cellar") (subpath "/opt/homebrew/Frameworks") (subpath "/opt/homebrew/bin")
  (subpath "/opt/homebrew/lib") (subpath "/opt/homebrew/opt")
  (subpath "/private/etc/ssl") (subpath "/private/var/db/dyld") (subpath "/private/var/db/timezone")
  (literal "/private/etc/hosts") (literal "/private/etc/localtime") (literal "/private/etc/passwd")
  (literal "/private/etc/protocols") (literal "/private/etc/services"))
; to resolve a path, every folder above it is looked at: existence, size and dates of files can be seen
(allow file-read-metadata)

; devices, and a terminal for !command
(allow file-read* file-write-data file-ioctl (literal "/dev/null") (literal "/dev/zero"))
(allow file-read* (literal "/dev/random") (literal "/dev/urandom"))
(allow pseudo-tty)
(allow file-read* file-write* file-ioctl (literal "/dev/ptmx"))
(allow file-read* file-write* file-ioctl
  (require-all (regex #"^/dev/ttys[0-9]+$") (extension "com.apple.sandbox.pty")))

; multiprocessing, OpenMP and PyTorch
(allow ipc-posix-sem)
(allow ipc-posix-shm* (ipc-posix-name-regex #"^/__KMP_REGISTERED_LIB_[0-9]+$"))
(allow ipc-posix-shm* (ipc-posix-name-regex #"^/(psm|wnsm|torch)_"))

; facts about the machine
(allow sysctl-read
  (sysctl-name-prefix "hw.") (sysctl-name-prefix "machdep.cpu.") (sysctl-name "vm.loadavg")
  (sysctl-name "kern.argmax") (sysctl-name "kern.boottime") (sysctl-name "kern.hostname")
  (sysctl-name "kern.maxfilesperproc") (sysctl-name "kern.maxproc") (sysctl-name "kern.ngroups")
  (sysctl-name "kern.osproductversion") (sysctl-name "kern.osrelease") (sysctl-name "kern.ostype")
  (sysctl-name "kern.osversion") (sysctl-name "kern.usrstack64") (sysctl-name "kern.version")
  (sysctl-name-prefix "kern.posix.sem") (sysctl-name-prefix "kern.sysv.sem"))

; users' names, logs, fonts
(allow mach-lookup
  (global-name "com.apple.system.opendirectoryd.libinfo") (global-name "com.apple.system.notification_center")
  (global-name "com.apple.logd") (global-name "com.apple.system.logger")
  (global-name "com.apple.FontObjectsServer") (global-name "com.apple.fonts"))
`

// The network is the internet's protocols and names; the sockets of other programs on this machine
// stay closed, but not their ports.
const seatbeltNet = `
; --allow-net
(allow network-outbound (remote ip "*:*"))
(allow network-bind network-inbound (local ip "*:*"))
(allow network-outbound (literal "/private/var/run/mDNSResponder"))
(allow file-read* (literal "/private/etc/resolv.conf") (literal "/private/var/run/resolv.conf"))
(allow sysctl-read (sysctl-name-prefix "net.routetable."))
`
