# Has folders list their files the other way round, and the computer have one more processor.
def elsewhere():
    import os

    class Listing:  # like what os.scandir gives
        def __init__(self, entries):
            self.entries = reversed(entries)

        def __iter__(self):
            return self

        def __next__(self):
            return next(self.entries)

        def __enter__(self):
            return self

        def __exit__(self, *args):
            pass

        close = __exit__

    def scandir(*args, **kwargs):
        with scanned(*args, **kwargs) as entries:
            return Listing(list(entries))

    def listdir(*args, **kwargs):
        return listed(*args, **kwargs)[::-1]

    scanned, listed, processors = os.scandir, os.listdir, (os.cpu_count() or 1) + 1
    os.scandir, os.listdir = scandir, listdir
    os.cpu_count = os.process_cpu_count = lambda: processors
    os.sched_getaffinity = lambda pid: set(range(processors))


elsewhere()
del elsewhere
