"""An IPython kernel with %undo: it makes frozen copies of its process (Linux, ipykernel 6 and 7).

front    the process that the client started: owns the sockets, never runs user code
worker   the real IPython kernel, a child of the front, which talks to it over one Unix socket
frozen   copies of a worker, made by fork(), that wait to be resumed: the checkpoints
hazards  state that a copy would get wrong: the reasons to refuse a checkpoint
pools    state that is restored in a copy: thread pools, generators, offsets, timers
policy   the front's own use of checkpoints, for %undo: one before every cell
undo     the magics; files: the files of the working folder

The messages are described in README.md.
"""
