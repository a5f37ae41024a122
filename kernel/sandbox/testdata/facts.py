# What processes of a session can read of /proc if the guard opens files for them, and what they
# cannot. OUTSIDE is a process that is not the session's.
import ctypes, errno, mmap, os, resource, subprocess, sys, threading, time
guard = os.getppid()
def read(path):
    with open(path) as file: return file.read()
def refused(path, flags=os.O_RDONLY):
    try: os.close(os.open(path, flags))
    except OSError as e: assert e.errno in (errno.EACCES, errno.EPERM), (path, e); return
    print("not refused:", path, flags)

child = subprocess.Popen([sys.executable, "-c",
    "import subprocess, sys; print(open('/proc/self/stat').read().split()[0], flush=True)\n"
    "p = subprocess.Popen(['sleep', '60']); print(p.pid, flush=True); sys.stdin.read(); p.kill()"],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
assert int(child.stdout.readline()) == child.pid # /proc/self is of whoever asks
grandchild = int(child.stdout.readline())
for pid in (os.getpid(), child.pid, grandchild):
    assert int(read(f"/proc/{pid}/stat").split()[0]) == pid
    assert "[stack]" in read(f"/proc/{pid}/maps")
    assert read(f"/proc/{pid}/task/{pid}/schedstat") and read(f"/proc/{pid}/fdinfo/1")
assert str(grandchild) in read(f"/proc/{child.pid}/task/{child.pid}/children").split()
found = []
thread = threading.Thread(target=lambda: found.append(read("/proc/self/status")))
thread.start(); thread.join()
assert f"\nPid:\t{os.getpid()}\n" in found[0] # not the thread
with open("/proc/self/stat") as file: assert not os.get_inheritable(file.fileno())

for pid in (OUTSIDE, guard, 1):
    for name in "stat", "cmdline", "environ", "maps", "status", f"task/{pid}/stat", "fdinfo/0":
        refused(f"/proc/{pid}/{name}")
for name in ("net/tcp", "mountinfo", "mem", f"../{OUTSIDE}/cmdline", f"task/../../{OUTSIDE}/stat",
             "root/etc/shadow", "fd/../../1/environ"): refused(f"/proc/{child.pid}/{name}")
for flags in (os.O_RDWR, os.O_WRONLY): refused(f"/proc/{child.pid}/comm", flags)
with open(f"/proc/{child.pid}/comm") as file: # nor once more, to write
    refused(f"/proc/self/fd/{file.fileno()}", os.O_WRONLY)

# The path is another one once the guard has read it, or before.
libc, both = ctypes.CDLL(None), [b"/proc/%d/stat\0" % pid for pid in (child.pid, OUTSIDE)]
path, stop = ctypes.create_string_buffer(64), threading.Event()
def swap():
    while not stop.is_set():
        for text in both: ctypes.memmove(path, text, len(text))
swapper = threading.Thread(target=swap); swapper.start()
sys.setswitchinterval(1e-4)
for _ in range(300):
    fd = libc.open(path, os.O_RDONLY | os.O_CLOEXEC)
    if fd >= 0:
        if int(os.read(fd, 20).split()[0]) != child.pid: print("another's file was opened")
        os.close(fd)
stop.set(); swapper.join()

# Where a path ends with the memory, and where there is none.
page = mmap.mmap(-1, 2 * mmap.PAGESIZE)
address = ctypes.addressof(ctypes.c_char.from_buffer(page))
assert libc.munmap(ctypes.c_void_p(address + mmap.PAGESIZE), mmap.PAGESIZE) == 0
end = address + mmap.PAGESIZE - len("/proc/self/stat") - 1
ctypes.memmove(end, b"/proc/self/stat\0", len("/proc/self/stat") + 1)
fd = libc.open(ctypes.c_void_p(end), os.O_RDONLY); assert fd >= 0; os.close(fd)
for wrong in (1, address + mmap.PAGESIZE): assert libc.open(ctypes.c_void_p(wrong), os.O_RDONLY) < 0

# Many who ask at once, some of whom are killed meanwhile, and one who can have no more descriptors.
flood = "while True:\n    with open('/proc/self/stat') as file: file.read()"
many = [subprocess.Popen([sys.executable, "-c", flood]) for _ in range(4)]
kept = []
resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
try:
    while True: kept.append(os.open(f"/proc/{grandchild}/stat", os.O_RDONLY))
except OSError as e: assert e.errno in (errno.EMFILE, errno.EACCES), e
for fd in kept: os.close(fd)
for p in many: assert int(read(f"/proc/{p.pid}/stat").split()[0]) == p.pid; p.kill()
assert all(p.wait() == -9 for p in many)
# A signal for each process that is left to the guard must not leave a question half answered.
orphans = """import os
while True:
    pid = os.fork()
    if pid == 0: os.fork(); os._exit(0)
    os.waitpid(pid, 0)"""
many = [subprocess.Popen([sys.executable, "-c", orphans]) for _ in range(2)]
for _ in range(300): assert read(f"/proc/{grandchild}/stat").startswith(str(grandchild))
for p in many: p.kill()
child.communicate("")
print("all is well")
