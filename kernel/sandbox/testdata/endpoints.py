"""Connects to an endpoint of the box in several ways, and tries to get elsewhere. Prints a JSON
object: by name, what came of it. "hello" is what the endpoint's server says, "other" what another
server of the machine says."""
import asyncio, ctypes, json, os, select, socket, struct, sys, threading, time

name, port, other, unix_path = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
address = socket.getaddrinfo(name, port, socket.AF_INET, socket.SOCK_STREAM)[0][4][0]
libc = ctypes.CDLL(None, use_errno=True)
results = {}


def attempt(f):
    try:
        results[f.__name__] = f()
    except Exception as e:
        results[f.__name__] = f"{type(e).__name__}: {e}"


def read(s):
    s.settimeout(5)
    return s.recv(16).decode()


def dial(host, port):
    with socket.create_connection((host, port), timeout=5) as s:
        return read(s)


@attempt
def by_name(): return dial(name, port)


@attempt
def not_blocking():
    s = socket.socket()
    s.setblocking(False)
    s.connect_ex((name, port))
    select.select([], [s], [], 5)
    return f"{not s.getblocking()} {not s.get_inheritable()} {read(s)}"


@attempt
def with_asyncio():
    async def f():
        reader, writer = await asyncio.open_connection(name, port)
        return (await reader.read(16)).decode()
    return asyncio.run(f())


@attempt
def in_child():
    r, w = os.pipe()
    if os.fork() == 0:
        os.write(w, dial(name, port).encode())
        os._exit(0)
    os.wait()
    return os.read(r, 16).decode()


@attempt
def many():
    done = []
    all = [threading.Thread(target=lambda: done.append(dial(name, port))) for _ in range(20)]
    [t.start() for t in all]; [t.join() for t in all]
    return f"{done.count('hello')} hello"


# From here on nothing must succeed.
@attempt
def other_port(): return dial(name, other)


@attempt
def loopback(): return dial("127.0.0.1", other)


@attempt
def loopback_6(): return dial("::1", other)


@attempt
def metadata(): return dial("169.254.169.254", 80)


@attempt
def far(): return dial("1.1.1.1", port)


@attempt
def other_name(): return socket.getaddrinfo("example.com", 80)


@attempt
def datagram():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    return f"sent {s.sendto(b'x', ('1.1.1.1', 53))}"


@attempt
def raw(): return str(socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))


@attempt
def multipath():
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
    s.connect(("127.0.0.1", other))
    return read(s)


@attempt
def fast_open():
    s = socket.socket()
    s.sendto(b"x", 0x20000000, ("127.0.0.1", other))
    return read(s)


@attempt
def fast_open_option():
    s = socket.socket()
    s.setsockopt(socket.IPPROTO_TCP, 30, 1)
    s.connect(("127.0.0.1", other))
    s.send(b"x")
    return read(s)


@attempt
def again():
    s = socket.socket()
    s.connect((name, port))
    nothing = ctypes.create_string_buffer(struct.pack("=H26x", socket.AF_UNSPEC))
    libc.connect(s.fileno(), nothing, 16)
    s.connect(("127.0.0.1", other))
    return read(s)


@attempt
def race():
    """The address changes while connect looks at it."""
    def bytes_of(host, port):
        return struct.pack("=H", socket.AF_INET) + struct.pack("!H", port) + socket.inet_aton(host) + bytes(8)
    good, bad = bytes_of(address, port), bytes_of("127.0.0.1", other)
    buffer = ctypes.create_string_buffer(good, 16)
    end = time.time() + 0.4
    def flip():
        while time.time() < end:
            ctypes.memmove(buffer, bad, 16)
            ctypes.memmove(buffer, good, 16)
    threading.Thread(target=flip).start()
    got = set()
    while time.time() < end:
        s = socket.socket()
        if libc.connect(s.fileno(), buffer, 16) == 0:
            got.add(read(s))
        s.close()
    return " ".join(sorted(got - {"hello"}))


@attempt
def listen():
    s = socket.socket()
    s.listen()
    return f"listens at {s.getsockname()}"


@attempt
def bind_and_listen():
    s = socket.socket()
    s.bind(("0.0.0.0", 0))
    s.listen()
    return f"listens at {s.getsockname()}"


@attempt
def listen_race():
    """The descriptor changes while listen looks at it."""
    local, tcp = socket.socket(socket.AF_UNIX), socket.socket()
    at = os.dup(local.fileno())
    end = time.time() + 0.2
    def flip():
        while time.time() < end:
            os.dup2(tcp.fileno(), at)
            os.dup2(local.fileno(), at)
    threading.Thread(target=flip).start()
    while time.time() < end:
        libc.listen(at, 1)
    return "listens" if tcp.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) else ""


@attempt
def in_sandbox():
    """A socket that the guard has connected is of the machine's network: no socket may be connected
    without it, however fast another thread changes what the guard has looked at."""
    there = "\0" + str(os.getpid())
    local, server = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    server.bind(there)
    server.listen()
    local.connect(there)
    return "connected"


@attempt
def interfaces():
    import fcntl
    s = socket.socket()
    s.connect((name, port))
    return str(fcntl.ioctl(s, 0x8912, bytes(64)))


@attempt
def unix_socket():
    s = socket.socket(socket.AF_UNIX)
    s.connect(unix_path)
    return read(s)


print(json.dumps(results))
