# What a process can find out about its namespaces, and where it can write. OWN is a run folder in a
# folder that it can read.
import os, socket
for path in ("/tmp", "/dev/shm"):
    assert os.statvfs(path).f_blocks * os.statvfs(path).f_frsize == 1 << 30, path
assert socket.gethostname() == "sandbox"
assert [l.split(":")[0].strip() for l in list(open("/proc/net/dev"))[2:]] == ["lo"]
with socket.socket() as s: # the loopback interface is up
    s.bind(("127.0.0.1", 0)); s.listen()
    with socket.create_connection(s.getsockname(), 5): pass
for line in open("/proc/self/status"):
    if line.startswith("Cap"): assert int(line.split()[1], 16) == 0, line
for line in open("/proc/self/mountinfo"):
    flags = line.split()[5].split(",")
    assert "nosuid" in flags and ("nodev" in flags or line.split()[4].startswith("/dev")), line
assert os.listdir(OWN) == ["files"]
for path in ("/new", "/usr/new", "/etc/new", "/dev/new", "/proc/sys/kernel/hostname", "/.dsstar",
             OWN + "/new"):
    try: os.close(os.open(path, os.O_WRONLY | os.O_CREAT)); print(path, "can be written")
    except OSError: pass
for path in ("new", OWN + "/files/new", "/tmp/new"): open(path, "w").close()
if os.fork() == 0:
    if os.fork() == 0:
        os.setsid(); os._exit(0) # whose parent ends: process 1 reaps it
    os._exit(0)
os.wait()
for _ in range(500):
    if not [p for p in os.listdir("/proc") if p.isdigit() and int(p) not in (1, os.getpid())]: break
    __import__("time").sleep(.01)
else: print("not reaped")
print("all is well")
