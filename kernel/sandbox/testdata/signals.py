# Which signals a process can send: to its own processes, not to others such as OUTSIDE. OLD is the
# version of Landlock's interface, if it does not confine signals.
import ctypes, fcntl, os, signal, socket, subprocess, sys, threading, time
guard, tasks = os.getppid(), []
try: tasks = [int(t) for t in os.listdir(f"/proc/{os.getppid()}/task")]
except OSError: pass
def refused(f, *a):
    try: f(*a)
    except (PermissionError, ProcessLookupError): return # or there is no such group
    print("not refused:", f.__name__, *a)
libc = ctypes.CDLL(None, use_errno=True)
def call(n, *a):
    if libc.syscall(ctypes.c_long(n), *map(ctypes.c_long, a)) < 0:
        raise OSError(ctypes.get_errno(), "")
for pid in [guard, OUTSIDE] + tasks:
    refused(os.kill, pid, 0); refused(os.kill, -pid, 0); refused(os.killpg, pid, 0)
    if os.uname().machine == "x86_64":
        refused(call, 200, pid, 0); refused(call, 234, pid, pid, 0)
        if OLD: refused(call, 129, pid, 0, 0)
r, w = os.pipe()
if OLD: refused(fcntl.fcntl, r, fcntl.F_SETOWN, guard) # newer ones refuse the signal
child = subprocess.Popen(["sleep", "60"], start_new_session=True)
os.killpg(child.pid, signal.SIGSTOP); os.kill(child.pid, signal.SIGCONT); child.kill()
assert child.wait() == -9
grandchild = int(subprocess.check_output(["sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!"]))
os.kill(grandchild, 15)
try: subprocess.run(["sleep", "60"], timeout=.1)
except subprocess.TimeoutExpired: pass
seen = []
signal.signal(signal.SIGUSR1, lambda *a: seen.append(1))
os.kill(os.getpid(), 10); os.kill(0, 10); signal.raise_signal(10)
signal.pthread_kill(threading.get_ident(), 10)
assert len(seen) == 4, seen
try: os.kill(2**22 - 1, 0)
except ProcessLookupError: pass
print("all is well")
