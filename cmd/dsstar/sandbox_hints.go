package main

import (
	"errors"

	"dsstar/kernel/sandbox"
)

// sandboxHints are the ways on where the sandbox that is asked for does not work, and nothing
// is run.
func sandboxHints(err error) []string {
	hints := tierHints(err)
	if m, ok := errors.AsType[*sandbox.MissingError](err); ok && m.Tier == sandbox.Full {
		hints = append(hints, "dsstar nb --sandbox builtin …     # needs no namespaces")
	}
	return append(hints,
		"dsstar nb --sandbox external …    # in a container or virtual machine that may be lost",
		"dsstar nb --sandbox off …         # cells that a model writes have all your rights then")
}

// tierHints are what makes a tier work on this machine, if anything does.
func tierHints(err error) []string {
	m, ok := errors.AsType[*sandbox.MissingError](err)
	if !ok {
		return nil
	}
	switch m.Cause {
	case sandbox.NoBubblewrap: // where dsstar may make no namespaces by itself
		return []string{"sudo apt-get install bubblewrap   # or as your system installs it; full: nothing outside can be seen"}
	case sandbox.AppArmor: // in Ubuntu 24.04 the profile is an extra, from 25.04 on it is there
		return []string{
			"sudo apt-get install apparmor-profiles",
			"sudo install -m 644 /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/",
			"sudo apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict   # lets bubblewrap make namespaces",
		}
	case sandbox.NamespacesOff:
		return []string{"sudo sysctl -e -w user.max_user_namespaces=15000 kernel.unprivileged_userns_clone=1   # lets users make namespaces"}
	case sandbox.NamespacesRefused:
		return []string{"unshare --user --map-current-user --mount --pid --fork mount -t proc proc /proc   # shows what is refused, often by a container's rules"}
	case sandbox.NoLandlock:
		return []string{"cat /sys/kernel/security/lsm   # if landlock is not in it: Linux 5.13 or newer, started with lsm=landlock,…"}
	}
	return nil
}

var writableHints = []string{
	"mkdir out && dsstar nb --allow-write out …   # a folder without data and runs in it",
	"dsstar nb --out DIR …                        # a run folder elsewhere",
	"dsstar nb --allow-write DATA …               # the data too, by their own name, if cells may change them",
	"dsstar doctor                                # what keeps the sandbox from being full, in which data stay as they are",
}
