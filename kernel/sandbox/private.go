package sandbox

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"dsstar/notebook/lists"
)

var (
	privateFolders = []string{"/boot", "/dev", "/etc", "/proc", "/run", "/sys", "/var/backups",
		"/var/lib", "/var/log", "/var/mail", "/var/spool"}

	credentials = regexp.MustCompile(`(?i)(^id_(rsa|dsa|ecdsa|ed25519)|credential|secret|passw|token|api_?key|keyring|\.(pem|key|p12|pfx|jks|kdbx)$)`)
)

// Private reports whether a path is hidden, belongs to the system or contains the user's home. What
// a stranger has written must not make cells read such a path.
func Private(path string) bool {
	names := []string{filepath.Clean(path)}
	if real, err := realPath(path); err == nil {
		names = append(names, real)
	}
	return AboveHome(path) || slices.ContainsFunc(names, func(name string) bool {
		return strings.Contains(name, "/.") || inOne(name, privateFolders)
	})
}

// MayAdvise reports whether a hint can suggest allowing the path. A stranger's cell or link may
// have caused the hint, hoping that the user pastes it, so [Private] paths and likely credentials
// are excluded.
func MayAdvise(path string) bool {
	real, _ := behind(path)
	return !Private(path) && !credentials.MatchString(filepath.Base(path)) &&
		!credentials.MatchString(filepath.Base(real))
}

// startup are paths below the home that programs run code from, or trust, when they start.
var startup = []string{
	".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv",
	".zprofile", ".zlogin", ".cshrc", ".tcshrc", ".xprofile", ".xsession", ".inputrc", ".config",
	".local/bin", ".local/lib", ".local/share/jupyter", ".local/share/applications", ".ssh",
	".gnupg", ".gitconfig", ".ipython", ".jupyter", ".vimrc", ".vim", ".emacs", ".emacs.d",
	".vscode", ".vscode-server", ".npmrc", ".cargo", ".docker", ".kube", "bin",
	"Library/LaunchAgents",
}

// Startup returns a path inside or around path from which programs run code when they start, "" if
// none is known. Cells that can write there can have code run outside the sandbox.
func Startup(path string) string {
	path, _ = behind(path)
	if AboveHome(path) {
		return path
	}
	around := []string{"/etc", "/usr", "/boot", "/bin", "/sbin", "/lib", "/lib64", "/var/spool"}
	if home, err := os.UserHomeDir(); err == nil {
		home, _ = behind(home)
		around = append(around, below(home, startup)...)
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(dir) {
			real, _ := behind(dir)
			around = append(around, real)
		}
	}
	return lists.First(around, func(at string) bool { return in(path, at) || in(at, path) })
}
