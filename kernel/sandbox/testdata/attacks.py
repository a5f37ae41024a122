"""What a hostile cell would try. Run as one cell (or script) after a definition of the dict T.

T: home, data, run, project   folders outside, with what victims_linux_test.go has put there
   parent, victim             processes outside; address: where the parent has 16 bytes to read
   tcp, udp                   ports of listeners on loopback; stream, datagram,
                              inside (the data): paths of Unix sockets;
                              abstract: a name, that of packets with a d after it
   endpoint                   host and port of a server that resets the connection once it has read;
                              a sandbox may lead there
   tmp, shm                   files outside, in /tmp and /dev/shm; segment: the key of shared memory
                              of System V
   queue                      the name of a POSIX queue outside
   pidns, netns, mntns, ipcns the namespaces outside, as /proc/self/ns/* show them
   report                     the link in /proc to the pipe on which the guard reports
   disk                       major and minor number of a disk
   key                        SHA-256 of a secret in environments outside; the secret is not in T
   tag                        part of the name of everything created where others could see it
   bomb, memory, only         optional: how many processes or threads (3000); megabytes (none: no
                              memory bomb);
                              names of the attempts to run (all but SEPARATE, which can kill the
                              kernel or need a look after)

Prints one line, {name: [state, detail]}:
   OPEN     it worked, on something outside
   PRIVATE  it worked, but reached only what the sandbox has for itself
   BLOCKED  it failed
No detail quotes what was read. If nothing is blocked, only the targets are harmed; anything else
that is opened is left alone.
"""

import ctypes
import fcntl
import glob
import hashlib
import json
import mmap
import os
import platform
import resource
import shutil
import signal
import site
import socket
import stat
import struct
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time

LIMIT = 10  # seconds for an attempt
SEPARATE = [
    "a01_fork_bomb", "a02_thread_bomb", "a04_fd_exhaustion", "a08_memory_bomb",
    "p17_daemon_survives",
]
ATTEMPTS = {}
libc = ctypes.CDLL(None, use_errno=True)
HOME, DATA, RUN = T["home"], T["data"], T["run"]


class Blocked(Exception):
    pass


class Private(Exception):
    pass


def attempt(function):
    """Registers an attempt: a function that returns what worked, or raises."""
    ATTEMPTS[function.__name__] = function
    return function


def run(function):
    def expired(*_):
        raise Blocked("no result in %d s" % LIMIT)

    before = signal.signal(signal.SIGALRM, expired)
    signal.alarm(LIMIT if function.__name__ not in SEPARATE else 6 * LIMIT)
    try:
        return "OPEN", str(function())[:100]
    except Private as e:
        return "PRIVATE", str(e)
    except Blocked as e:
        return "BLOCKED", str(e)
    except Exception as e:
        # Not the text of an OSError, which would name the target.
        why = os.strerror(e.errno) if isinstance(e, OSError) and e.errno else str(e)
        return "BLOCKED", "%s: %s" % (type(e).__name__, why[:80])
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def check(result):
    """Raises the error of a C function that has returned -1."""
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def syscall(name, *args):
    x86, arm = {
        "bpf": (321, 280), "userfaultfd": (323, 282), "keyctl": (250, 219),
        "perf_event_open": (298, 241),
        "io_uring_setup": (425, 425), "pidfd_open": (434, 434), "pidfd_getfd": (438, 438),
        "openat2": (437, 437), "fchmodat2": (452, 452), "listmount": (458, 458),
        "mq_unlink": (241, 181), "io_setup": (206, 0), "landlock_create_ruleset": (444, 444),
        "memfd_secret": (447, 447), "seccomp": (317, 277), "socket": (41, 198),
        "close_range": (436, 436), "of x32": (0x40000000 + 39, -1),
    }[name]
    number = {"x86_64": x86, "aarch64": arm}[platform.machine()]
    args = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    return check(libc.syscall(ctypes.c_long(number), *args))


def outside(kind):
    """Whether this process is in the namespace outside; true if that is unknown."""
    try:
        return os.readlink("/proc/self/ns/" + kind) == T[kind + "ns"]
    except OSError:
        return True


def reached(what):
    """Reports that a process was reached by its id: one outside, unless ids here are others."""
    if not outside("pid"):
        raise Private(what + " of the sandbox's own process of that number")
    return what


def read(path):
    with open(path, "rb") as f:
        return "%d bytes" % len(f.read(4096))


def write(path, mode="w", text="x"):
    with open(path, mode) as f:
        f.write(text)
    return "written"


def in_child(work):
    """Runs work() in a child, which has succeeded if it returns something true."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = 0 if work() else 1
        finally:
            os._exit(code)
    if os.waitpid(pid, 0)[1] != 0:
        raise Blocked("refused in the child")


# Reading

@attempt
def r01_read_shadow():
    return read("/etc/shadow")


@attempt
def r02_read_ssh_key():
    return read(HOME + "/.ssh/id_rsa")


@attempt
def r03_read_aws_credentials():
    return read(HOME + "/.aws/credentials")


@attempt
def r04_list_home():
    return "%d entries" % len(os.listdir(HOME))


def has_key(values):
    return any(hashlib.sha256(v).hexdigest() == T["key"] for v in values)


def environ_of(pid):
    with open("/proc/%s/environ" % pid, "rb") as f:
        return [v.partition(b"=")[2] for v in f.read().split(b"\0") if v]


@attempt
def r05_key_in_environment():
    if not has_key(v.encode() for v in os.environ.values()):
        raise Blocked("not there")
    return "the key is there"


@attempt
def r06_parent_environ():
    return reached("%d variables" % len(environ_of(T["parent"])))


def processes():
    return [p for p in os.listdir("/proc") if p.isdigit() and int(p) != os.getpid()]


@attempt
def r07_any_environ():
    for pid in processes():
        try:
            if has_key(environ_of(pid)):
                return "the key is in that of a process"
        except OSError:
            pass
    raise Blocked("in none that can be read")


@attempt
def r08_other_command_lines():
    for pid in processes():
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as f:
                if b"--pass" + b"word=" in f.read():
                    return "a password"
        except OSError:
            pass
    raise Blocked("none with a password")


@attempt
def r09_other_connection_file():
    return read(HOME + "/.local/share/jupyter/runtime/kernel-1.json")


@attempt
def r10_stat_ssh_key():
    return "%d bytes" % os.stat(HOME + "/.ssh/id_rsa").st_size


def linked(link, target, use):
    """Creates a link in the working folder, calls use with it, and removes it."""
    name = "link-%s" % T["tag"]
    link(target, name)
    try:
        return use(name)
    finally:
        os.unlink(name)


@attempt
def r11_symlink_to_secret():
    return linked(os.symlink, HOME + "/.ssh/id_rsa", read)


@attempt
def r12_hardlink_to_secret():
    return linked(os.link, HOME + "/.ssh/id_rsa", read)


@attempt
def r13_cat_secret():
    done = subprocess.run(["cat", HOME + "/.ssh/id_rsa"], capture_output=True)
    if done.returncode != 0:
        raise Blocked("cat exits with %d" % done.returncode)
    return "%d bytes" % len(done.stdout)


@attempt
def r14_reopen_path_descriptor():
    fd = os.open(HOME + "/.ssh/id_rsa", os.O_PATH)
    try:
        return read("/proc/self/fd/%d" % fd)
    finally:
        os.close(fd)


@attempt
def r16_watch_home():
    # Would show the names of files that other programs open in folders that cannot be listed.
    fd = check(libc.inotify_init())
    try:
        check(libc.inotify_add_watch(fd, HOME.encode(), 0xFFF))
    finally:
        os.close(fd)
    return "watching"


@attempt
def r17_attribute_of_ssh_key():
    return "%d bytes" % len(os.getxattr(HOME + "/.ssh/id_rsa", "user.origin"))


@attempt
def r18_connections():
    found = []
    with open("/proc/self/net/tcp") as f:
        found += ["a port"] if "0100007F:%04X " % T["tcp"] in f.read() else []
    with open("/proc/self/net/unix") as f:
        found += ["a socket"] if T["stream"] in f.read() else []
    if not found:
        raise Private("those of the sandbox's own network")
    return " and ".join(found)


@attempt
def r19_mounts():
    found = []
    for name in "mountinfo", "mounts", "mountstats":
        try:
            with open("/proc/thread-self/" + name) as f:
                found += [name] if f.read() else []
        except OSError as e:
            error = e
    if not found:
        raise error
    if not outside("mnt"):
        raise Private("those of the sandbox")
    return ", ".join(found)


@attempt
def r20_list_mounts():
    request = struct.pack("IIQQ", 24, 0, 2**64 - 1, 0)  # below the root of this namespace
    found = ctypes.create_string_buffer(8 * 64)
    n = syscall("listmount", ctypes.create_string_buffer(request, 24), found, 64, 0)
    if not outside("mnt"):
        raise Private("%d mounts of the sandbox" % n)
    return "%d mounts" % n


@attempt
def r21_network_interfaces():
    buffer = ctypes.create_string_buffer(4096)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
        request = struct.pack("iP", 4096, ctypes.addressof(buffer))
        fcntl.ioctl(s, 0x8912, request)
    if not outside("net"):
        raise Private("those of the sandbox's own network")
    return "addresses of interfaces"


@attempt
def r22_whose_process():
    pidfd = syscall("pidfd_open", T["victim"], 0)
    try:
        # PIDFD_GET_INFO, of credentials
        info = fcntl.ioctl(pidfd, 0xC040FF0B, struct.pack("Q", 2) + bytes(56))
    finally:
        os.close(pidfd)
    return reached("user %d" % struct.unpack_from("I", info, 28))


@attempt
def r23_control_groups():
    groups = glob.glob("/sys/fs/cgroup/**/cgroup.procs", recursive=True)
    if not groups:
        raise Blocked("none is listed")
    return "%d groups" % len(groups)


@attempt
def r24_machine_counters():
    return open("/proc/vmstat").read(80)


@attempt
def r25_pipe_of_the_guard():
    # Who has it could say why the guard has ended a session.
    for path in glob.glob("/proc/[0-9]*/fd/*"):
        try:
            if os.readlink(path) == T["report"]:
                return "a process has it"
        except OSError:
            pass
    raise Blocked("no process has it")


# Writing

@attempt
def w01_create_in_home():
    return write(HOME + "/created")


@attempt
def w02_append_to_bashrc():
    return write(HOME + "/.bashrc", "a", "# x\n")


@attempt
def w03_create_in_data():
    return write(DATA + "/created")


@attempt
def w04_modify_data():
    return write(DATA + "/a.csv", "r+")


@attempt
def w05_truncate_data():
    os.truncate(DATA + "/b.csv", 0)
    return "truncated"


@attempt
def w06_open_truncating_data():
    os.close(os.open(DATA + "/b2.csv", os.O_RDONLY | os.O_TRUNC))
    if os.stat(DATA + "/b2.csv").st_size:
        raise Blocked("opened, not truncated")
    return "truncated"


@attempt
def w07_unlink_data():
    os.unlink(DATA + "/c.csv")
    return "deleted"


@attempt
def w08_rename_data():
    os.rename(DATA + "/d.csv", DATA + "/d2.csv")
    return "renamed"


def mode_changed(path, mode):
    # The sandbox may let a change of mode succeed without effect, as shutil.copy requires success.
    if os.stat(path).st_mode & 0o777 != mode:
        raise Blocked("succeeds without effect")
    return "mode %o" % mode


@attempt
def w09_chmod_data():
    os.chmod(DATA + "/e.csv", 0o777)
    return mode_changed(DATA + "/e.csv", 0o777)


@attempt
def w10_fchmod_data():
    with open(DATA + "/e.csv") as f:
        os.fchmod(f.fileno(), 0o776)
    return mode_changed(DATA + "/e.csv", 0o776)


@attempt
def w11_chmod_ssh_folder():
    os.chmod(HOME + "/.ssh", 0o777)
    return mode_changed(HOME + "/.ssh", 0o777)


@attempt
def w12_utime_data():
    os.utime(DATA + "/e.csv", (1, 1))
    if os.stat(DATA + "/e.csv").st_mtime != 1:
        raise Blocked("succeeds without effect")
    return "dated 1970"


@attempt
def w13_setxattr_data():
    os.setxattr(DATA + "/e.csv", "user.x", b"1")
    if os.getxattr(DATA + "/e.csv", "user.x") != b"1":
        raise Blocked("succeeds without effect")
    return "set"


@attempt
def w14_overwrite_notebook():
    return write(RUN + "/notebook.ipynb")


@attempt
def w15_rename_run():
    os.rename(RUN, RUN + ".moved")
    os.rename(RUN + ".moved", RUN)  # the other attempts need it
    return "renamed, and back"


@attempt
def w16_remove_older_run():
    shutil.rmtree(T["project"] + "/runs/r0")
    return "removed"


@attempt
def w17_write_through_symlink():
    return linked(os.symlink, HOME + "/.profile", lambda name: write(name, "a"))


def in_shared_folder(known):
    """Creates a file beside a known one outside. If that is not there, the folder is private."""
    path = os.path.dirname(known) + "/attack-" + T["tag"]
    write(path)
    if not os.path.exists(known):
        os.unlink(path)
        raise Private("written to a folder of the sandbox's own")
    return "written"


@attempt
def w18_host_tmp():
    return in_shared_folder(T["tmp"])


@attempt
def w19_shm_leftover():
    return in_shared_folder(T["shm"])


@attempt
def w20_read_shm():
    return read(T["shm"])


@attempt
def w21_python_packages():
    paths = sysconfig.get_paths()
    for folder in {paths["stdlib"], paths["purelib"], paths["platlib"], *site.getsitepackages()}:
        try:
            with tempfile.TemporaryFile(dir=folder):
                return "a file can be made in " + folder
        except OSError:
            pass
    raise Blocked("not writable")


@attempt
def w22_mknod_disk():
    name = "disk-%s" % T["tag"]
    os.mknod(name, stat.S_IFBLK | 0o600, os.makedev(*T["disk"]))
    try:
        return read(name)
    finally:
        os.unlink(name)


def first_writable(paths):
    error = None
    for path in paths:
        try:
            os.close(os.open(path, os.O_WRONLY))
            return path
        except OSError as e:
            error = error or e
    raise error


@attempt
def w23_core_pattern_sysrq():
    return first_writable(["/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger"])


@attempt
def w24_cgroup_release_agent():
    agents = glob.glob("/sys/fs/cgroup/*/release_agent")
    return first_writable(agents + ["/sys/fs/cgroup/cgroup.procs"])


@attempt
def w25_io_uring():
    os.close(syscall("io_uring_setup", 4, ctypes.create_string_buffer(120)))
    return "a ring"


@attempt
def w26_flags_of_data():
    # Sets the flags nodump and noatime, as chattr does, through a read-only descriptor.
    fd = os.open(DATA + "/e.csv", os.O_RDONLY)
    try:
        before = struct.unpack("l", fcntl.ioctl(fd, 0x80086601, bytes(8)))[0]
        fcntl.ioctl(fd, 0x40086602, struct.pack("l", before | 0x40 | 0x80))
    finally:
        os.close(fd)
    return "set"


@attempt
def w27_setuid_file():
    name, made = "setuid-%s" % T["tag"], []

    def tried(how, make):
        try:
            make()
        except OSError:
            pass
        if os.path.exists(name):
            if os.stat(name).st_mode & 0o6000:
                made.append(how)
            os.unlink(name)

    def changed(change):
        write(name)
        with open(name) as f:
            change(f.fileno())

    path, here = name.encode(), -100
    how = ctypes.create_string_buffer(struct.pack("QQQ", os.O_CREAT | os.O_WRONLY, 0o4755, 0), 24)
    tried("chmod", lambda: changed(lambda fd: os.chmod(name, 0o4755)))
    tried("chmod to setgid", lambda: changed(lambda fd: os.chmod(name, 0o2755)))
    tried("fchmod", lambda: changed(lambda fd: os.fchmod(fd, 0o6755)))
    folder = os.open(".", os.O_RDONLY)
    tried("fchmodat", lambda: changed(lambda fd: os.chmod(name, 0o4755, dir_fd=folder)))
    tried("fchmodat2", lambda: changed(lambda fd: syscall("fchmodat2", here, path, 0o4755, 0)))
    tried("open", lambda: os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o4755)))
    tried("openat2", lambda: os.close(syscall("openat2", here, path, how, 24)))
    tried("mknod", lambda: os.mknod(name, stat.S_IFREG | 0o4755))
    nameless = None
    try:
        nameless = os.open(".", os.O_TMPFILE | os.O_WRONLY, 0o4755)
        if os.fstat(nameless).st_mode & 0o6000:
            made.append("O_TMPFILE")
    except OSError:
        pass
    finally:
        if nameless is not None:
            os.close(nameless)
    if not made:
        raise Blocked("none is made")
    return ", ".join(made)


@attempt
def w28_delete_queue():
    syscall("mq_unlink", T["queue"].encode())
    return "deleted"


@attempt
def w29_lease_of_data():
    # A lease blocks those who open the file for writing, until it is released.
    fd = os.open(DATA + "/e.csv", os.O_RDONLY)
    try:
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    finally:
        os.close(fd)
    return "held"


# Network and sockets

def connected(family, address, protocol=0):
    with socket.socket(family, socket.SOCK_STREAM, protocol) as s:
        s.settimeout(3)
        s.connect(address)
    return "connected"


@attempt
def n01_tcp_loopback():
    return connected(socket.AF_INET, ("127.0.0.1", T["tcp"]))


@attempt
def n02_tcp_internet():
    return connected(socket.AF_INET, ("1.1.1.1", 53))


@attempt
def n03_udp_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(1)
        s.sendto(b"x", ("127.0.0.1", T["udp"]))
        return "answer of %d bytes" % len(s.recv(10))


@attempt
def n04_dns():
    # In a child: no signal ends a look-up that gets no answer.
    code = "import socket; socket.getaddrinfo('example.com', 80)"
    done = subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL, timeout=5)
    if done.returncode != 0:
        raise Blocked("no answer")
    return "an address"


@attempt
def n05_mptcp_loopback():
    return connected(socket.AF_INET, ("127.0.0.1", T["tcp"]), 262)


@attempt
def n06_tcp_listen():
    with socket.socket() as s:
        s.bind(("0.0.0.0", 0))
        s.listen(1)
    if not outside("net"):
        raise Private("on a network of the sandbox's own")
    return "listening"


@attempt
def n07_vsock():
    socket.socket(40, socket.SOCK_STREAM).close()
    return "a socket"


@attempt
def n08_netlink_packet():
    made = []
    for name, family in ("netlink", 16), ("packet", 17):
        try:
            socket.socket(family, socket.SOCK_RAW).close()
            made.append(name)
        except OSError as e:
            error = e
    if not made:
        raise error
    return " and ".join(made)


@attempt
def n09_unix_stream():
    return connected(socket.AF_UNIX, T["stream"])


@attempt
def n10_unix_datagram():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        return "sent %d" % s.sendto(b"x", T["datagram"])


@attempt
def n11_unix_datagram_of_pair():
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with a, b:
        return "sent %d" % a.sendto(b"x", T["datagram"])


@attempt
def n12_unix_abstract():
    return connected(socket.AF_UNIX, "\0" + T["abstract"])


@attempt
def n13_unix_stream_in_data():
    return connected(socket.AF_UNIX, T["inside"])


@attempt
def n14_unix_datagram_by_another_name():
    with socket.socket(socket.AF_UNIX, socket.SOCK_RAW) as s:
        return "sent %d" % s.sendto(b"x", T["datagram"])


@attempt
def n15_unix_pair_by_another_name():
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW)
    with a, b:
        return "sent %d" % a.sendto(b"x", T["datagram"])


@attempt
def n16_unix_abstract_datagram_of_pair():
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with a, b:
        return "sent %d" % a.sendto(b"x", "\0" + T["abstract"] + "d")


@attempt
def n17_answer_in_a_name():
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
        s.bind("\0attack-" + T["tag"])
        s.listen(1)
    if not outside("net"):
        raise Private("on a network of the sandbox's own")
    return "listening under a name that another program may call"


@attempt
def n18_way_of_connection():
    header = struct.pack("=8B", 0, 2, 4, 0, 0, 0, 0, 0) + b"\xfd" + bytes(14) + b"\x09"
    taken = []
    with socket.create_connection(T["endpoint"], 5) as s:
        for name, level, option, value in (
            ("routing header", 41, 57, header), ("headers", 41, 54, struct.pack("=8B", *bytes(8))),
            ("interface", 1, 25, b"lo"), ("interface of IPv6", 41, 76, bytes(4)),
            ("interface of IPv4", 0, 50, bytes(4)), ("options of IPv4", 0, 4, b"\1\1\1\1"),
            ("no gateway", 1, 5, bytes(4)), ("mark", 1, 36, bytes(4)), ("service", 0, 1, bytes(4)),
            ("flow", 41, 33, bytes(4)), ("control of congestion", 6, 13, b"reno"),
        ):
            try:
                s.setsockopt(level, option, value)
                taken.append(name)
            except OSError:
                pass
    if not taken:
        raise Blocked("none is taken")
    return ", ".join(taken)


@attempt
def n19_port_after_reset():
    # Linux takes the port away from a connection that is reset; it could be bound to any other.
    with socket.create_connection(T["endpoint"], 5) as s:
        s.sendall(b"x")
        try:
            s.recv(1)
        except ConnectionResetError:
            pass
        s.bind((s.getsockname()[0], 0))
    return "bound anew"


@attempt
def n20_high_bits_of_family():
    # Linux reads 32 bits of a family; a filter that reads all takes this for another.
    family = socket.AF_INET | 1 << 32
    with socket.socket(fileno=syscall("socket", family, socket.SOCK_DGRAM, 0)) as s:
        s.settimeout(1)
        s.sendto(b"x", ("127.0.0.1", T["udp"]))
        return "answer of %d bytes" % len(s.recv(10))


# Processes and the system's kernel

@attempt
def p01_kill_victim():
    os.kill(T["victim"], signal.SIGUSR1)  # it survives that
    return reached("signal")


@attempt
def p02_kill_parent():
    os.kill(T["parent"], 0)
    return reached("signal")


@attempt
def p03_kill_all():
    os.kill(-1, 0)
    try:
        os.kill(T["victim"], 0)
    except OSError:
        raise Private("reaches the sandbox's own processes") from None
    return reached("signal")


@attempt
def p04_ptrace_victim():
    attach, detach, wall = 16, 17, 0x40000000
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    check(libc.ptrace(attach, T["victim"], None, None))
    os.waitpid(T["victim"], wall)
    check(libc.ptrace(detach, T["victim"], None, None))
    return reached("attached")


@attempt
def p05_read_parent_memory():
    class Span(ctypes.Structure):
        _fields_ = [("start", ctypes.c_void_p), ("size", ctypes.c_size_t)]

    buffer = ctypes.create_string_buffer(16)
    here, there = Span(ctypes.addressof(buffer), 16), Span(T["address"], 16)
    libc.process_vm_readv.restype = ctypes.c_ssize_t
    one = ctypes.c_ulong(1)
    to, source = ctypes.byref(here), ctypes.byref(there)
    n = check(libc.process_vm_readv(T["parent"], to, one, source, one, ctypes.c_ulong(0)))
    return reached("%d bytes" % n)


@attempt
def p06_open_parent_memory():
    os.close(os.open("/proc/%d/mem" % T["parent"], os.O_RDONLY))
    return reached("opened")


@attempt
def p07_prlimit_victim():
    resource.prlimit(T["victim"], resource.RLIMIT_NOFILE, (64, 64))
    return reached("limit")


@attempt
def p08_take_parent_descriptor():
    pidfd = syscall("pidfd_open", T["parent"], 0)
    try:
        os.close(syscall("pidfd_getfd", pidfd, 1, 0))
    finally:
        os.close(pidfd)
    return reached("its standard output")


NEWNS, NEWUSER, REC_PRIVATE = 0x20000, 0x10000000, 0x4000 | 0x40000


@attempt
def p09_new_user_namespace():
    in_child(lambda: libc.unshare(NEWUSER) == 0)
    return "made"


@attempt
def p10_mount():
    def mount():
        if libc.unshare(NEWUSER | NEWNS) == 0 or libc.unshare(NEWNS) == 0:
            # Mounts must not propagate to the outside.
            return libc.mount(b"none", b"/", None, REC_PRIVATE, None) == 0 and \
                libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0
        # Without privileges the error is EPERM; with them, that there is no such file system.
        libc.mount(b"none", b"/tmp", b"nosuchfs", 0, None)
        return ctypes.get_errno() == 19
    in_child(mount)
    return "mounted"


@attempt
def p11_rare_system_calls():
    buffer = ctypes.create_string_buffer(200)
    open_ = []
    for name, *args in (("bpf", 0, buffer, 120), ("userfaultfd", 1), ("keyctl", 0, -3, 0),
                        ("perf_event_open", buffer, 0, -1, -1, 0)):
        try:
            result = syscall(name, *args)
            if name != "keyctl":
                os.close(result)
        except PermissionError:
            continue
        except OSError as e:
            if e.errno == 38:  # not implemented
                continue
        open_.append(name)
    if not open_:
        raise Blocked("all refused")
    return ", ".join(open_)


@attempt
def p12_setuid_programs():
    if libc.prctl(39, 0, 0, 0, 0) == 1:
        raise Blocked("no_new_privs is set")
    return "they would gain their rights"


def capabilities():
    """The sets of this process: effective, permitted, inheritable, then the high halves."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    sets = (ctypes.c_uint32 * 6)()
    check(libc.capget(header, sets))
    return sets


@attempt
def p13_capabilities():
    sets = capabilities()
    if not any(sets):
        raise Blocked("none")
    return "effective %08x%08x" % (sets[3], sets[0])


@attempt
def p14_terminal_input():
    fd = os.open("/dev/tty", os.O_RDWR)
    try:
        # With a bad address the error is EFAULT if all permission checks pass; nothing is typed.
        libc.ioctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p]
        check(libc.ioctl(fd, 0x5412, None))
    except OSError as e:
        if e.errno != 14:
            raise
    finally:
        os.close(fd)
    return "could type on the terminal"


@attempt
def p16_setpriority():
    done = []
    try:
        os.setpriority(os.PRIO_PROCESS, T["victim"], 5)
        done.append("the victim")
    except OSError as e:
        error = e
    # Of all processes of the user, whose number is 0. A process that must not make them faster
    # (CAP_SYS_NICE is 23) gets an error for that only if it could make them slower: this tries
    # without changing anything.
    if not capabilities()[0] >> 23 & 1 and resource.getrlimit(resource.RLIMIT_NICE)[0] == 0:
        try:
            os.setpriority(os.PRIO_USER, 0, -20)
        except OSError as e:
            if e.errno == 13:
                done.append("all processes of the user")
    if not done:
        raise error
    return reached(" and ".join(done))


@attempt
def p17_daemon_survives():
    code = "import time; time.sleep(600)"
    begun, low = os.pipe()
    high = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, 100)  # open until the daemon's program begins
    pid = os.fork()
    if pid == 0:
        os.setsid()
        if os.fork() == 0:
            os.setsid()
            os.closerange(0, 100)
            os.execv(sys.executable, [sys.executable, "-c", code, "daemon-" + T["tag"]])
        os._exit(0)
    os.close(low)
    os.close(high)
    os.waitpid(pid, 0)
    os.read(begun, 1)
    os.close(begun)
    return "started; whether it outlives the kernel is seen from outside"


def scheduling():
    return os.sched_getscheduler(T["victim"]), os.sched_getaffinity(T["victim"])


@attempt
def p18_reschedule_victim():
    before = scheduling()
    changes = (lambda: os.sched_setaffinity(T["victim"], {min(before[1])}),
               lambda: os.sched_setscheduler(T["victim"], os.SCHED_IDLE, os.sched_param(0)))
    failed = Blocked("succeeds without effect")
    for change in changes:
        try:
            change()
        except OSError as e:
            failed = e
    if scheduling() == before:
        raise failed
    return reached("policy and processors %s, was %s" % (scheduling(), before))


@attempt
def p19_shared_memory_segment():
    segment = check(libc.shmget(T["segment"], 0, 0))
    libc.shmat.restype = ctypes.c_void_p
    libc.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
    address = libc.shmat(segment, None, 0)
    if address == ctypes.c_void_p(-1).value:
        check(-1)
    size = len(ctypes.string_at(address, 16))
    libc.shmdt.argtypes = [ctypes.c_void_p]
    libc.shmdt(address)
    return "%d bytes" % size


@attempt
def p20_semaphores():
    most = check(libc.semget(0, 1000, 0o600))  # IPC_PRIVATE: they outlive this process
    libc.semctl(most, 0, 0)
    return "1000 semaphores"


@attempt
def p21_other_architecture():
    # getpid of 32-bit programs, whose numbers are others
    code = b"\xb8\x14\0\0\0\xcd\x80\xc3"
    if platform.machine() != "x86_64":
        raise Blocked("no such calls")
    memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(code)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    in_child(lambda: ctypes.CFUNCTYPE(ctypes.c_int)(address)() == os.getpid())
    return "called"


@attempt
def p22_other_table_of_calls():
    return "process %d" % syscall("of x32")


@attempt
def p23_descriptors_of_its_own():
    # The guard opens descriptors for a thread of those that ask: all must share them.
    syscall("close_range", 4000, 4000, 2)
    return "unshared"


# Abuse of resources

@attempt
def a01_fork_bomb():
    most, children = T.get("bomb", 3000), []
    try:
        while len(children) < most:
            pid = os.fork()
            if pid == 0:
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.alarm(120)  # also ends one that is left behind
                while True:
                    signal.pause()
            children.append(pid)
        time.sleep(1)  # a guard that polls must see them
    except OSError as e:
        raise Blocked("%d processes: %s" % (len(children), os.strerror(e.errno))) from None
    finally:
        for pid in children:
            os.kill(pid, signal.SIGKILL)
        for pid in children:
            os.waitpid(pid, 0)
    return "%d processes" % most


@attempt
def a02_thread_bomb():
    most, threads, stop = T.get("bomb", 3000), [], threading.Event()
    size = threading.stack_size(65536)
    try:
        while len(threads) < most:
            t = threading.Thread(target=stop.wait, daemon=True)
            t.start()
            threads.append(t)
        time.sleep(1)
    except RuntimeError as e:
        raise Blocked("%d threads: %s" % (len(threads), e)) from None
    finally:
        stop.set()
        threading.stack_size(size)
        for t in threads:
            t.join(5)
    return "%d threads" % most


@attempt
def a03_huge_file():
    name = "huge-%s" % T["tag"]
    try:
        with open(name, "wb") as f:
            f.truncate(20 << 30)
        return "20 GB, sparse"
    finally:
        os.unlink(name)


@attempt
def a04_fd_exhaustion():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    fds = []
    try:
        while len(fds) < 10000:
            fds.append(os.open("/dev/null", os.O_RDONLY))
    finally:
        for fd in fds:
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    return "%d descriptors" % len(fds)


@attempt
def a05_core_dumps():
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    if 0 <= hard <= 1:  # 1 is too little for any file, and prevents starting a program for the dump, too
        raise Blocked("%d bytes" % hard)
    return "allowed"


@attempt
def a06_raise_limits():
    kinds = [resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE,
             resource.RLIMIT_DATA, resource.RLIMIT_CORE]
    for kind in kinds:
        soft, hard = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY:
            continue
        try:
            resource.setrlimit(kind, (soft, hard + 1))
        except (OSError, ValueError):
            continue
        resource.setrlimit(kind, (soft, hard))
        return "raised, and lowered again"
    raise Blocked("none can be raised")


@attempt
def a07_oom_score():
    path = "/proc/self/oom_score_adj"
    with open(path) as f:
        before = f.read()
    write(path, "w", "0" if int(before) > 0 else "-1")
    write(path, "w", before)
    return "lowered"


@attempt
def a08_memory_bomb():
    if not T.get("memory"):
        raise Blocked("not tried: T has no memory")
    taken = []
    try:
        while len(taken) * 100 < T["memory"]:
            taken.append(bytearray(b"x") * (100 << 20))
    except MemoryError:
        raise Blocked("MemoryError at %d MB" % (len(taken) * 100)) from None
    return "%d MB" % (len(taken) * 100)


@attempt
def a09_inotify_instance():
    # A user has 128 of them, for all programs.
    os.close(check(libc.inotify_init()))
    return "an instance"


@attempt
def a10_socket_buffer():
    a, b = socket.socketpair()
    with a, b:
        before = a.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
        # Linux doubles the given size
        a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, before)
        after = a.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
    if after == before:
        raise Blocked("succeeds without effect")
    return "%d bytes, was %d" % (after, before)


@attempt
def a11_timers():
    # Each timer reserves a pending signal; all programs of a user share a limited number.
    timers = []
    try:
        while len(timers) < 2000:
            timer = ctypes.c_void_p()
            check(libc.timer_create(1, None, ctypes.byref(timer)))
            timers.append(timer)
    finally:
        for timer in timers:
            libc.timer_delete(timer)
    return "%d timers" % len(timers)


@attempt
def a14_landlock_ruleset():
    # A rule for a port takes 64 bytes of Linux, and a ruleset has any number.
    os.close(syscall("landlock_create_ruleset", struct.pack("QQ", 0, 1), 16, 0))
    return "a ruleset"


@attempt
def a15_asynchronous_contexts():
    # The machine has 65,536 of them.
    context = ctypes.c_ulong()
    syscall("io_setup", 1000, ctypes.byref(context))
    return "1000"


@attempt
def a16_secret_memory():
    os.close(syscall("memfd_secret", 0))
    return "a file"


@attempt
def a17_terminals():
    # All containers of the machine share 3,072 of them; each takes 90 KB of Linux.
    fds = []
    try:
        for _ in range(100):
            fds += os.openpty()
    finally:
        for fd in fds:
            os.close(fd)
    return "100 of them"


@attempt
def a18_filters():
    # A filter takes up to 355 KB of Linux with its compiled code, which all programs share.
    program = struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000)
    lines = ctypes.create_string_buffer(program, len(program))
    filter = struct.pack("@HP", 1, ctypes.addressof(lines))
    taken = []
    for name, load in (
        ("by prctl", lambda: libc.prctl(22, 2, filter)),
        ("by seccomp", lambda: syscall("seccomp", 1, 0, filter)),
    ):
        pid = os.fork()
        if pid == 0:  # a filter stays
            try:
                libc.prctl(38, 1, 0, 0, 0)
                os._exit(load() != 0)
            except OSError:
                os._exit(1)
        if os.waitpid(pid, 0)[1] == 0:
            taken.append(name)
    if not taken:
        raise Blocked("none is taken")
    return ", ".join(taken)


print(json.dumps({name: run(function) for name, function in ATTEMPTS.items()
                  if name in T.get("only", [n for n in ATTEMPTS if n not in SEPARATE])}))
