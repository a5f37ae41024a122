"""An IPython kernel that can go back: checkpoints are frozen copies of its process (Linux, ipykernel 6 and 7).

front    keeps the pid that the client started, owns the sockets, and never runs user code
worker   the real IPython kernel, a child of the front, which talks to it over one Unix socket
frozen   copies of a worker, made by fork(), that wait to be resumed: the checkpoints
hazards  what a copy would get wrong: the reasons to refuse a checkpoint
pools    what a copy gets right with some help: thread pools, generators, offsets, timers

The messages are described in docs/checkpoints.md.
"""
