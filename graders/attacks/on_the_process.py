"""What a program may try on its own process: descriptors, signals, clocks, threads, streams, the environment."""

from graders.attacks.ends import ANY_END, BREACH, CRASH, ERROR, NOTHING, OK, TIME, Attacks

ON_THE_PROCESS: Attacks = {
    "puts the report's channel over its own output": (
        {BREACH},
        "import os\nos.dup2(3, 1)\nprint('{\"ok\": true}', flush=True)",
    ),
    "closes the report's channel": ({OK, NOTHING}, "import os\nos.close(3)"),
    "takes every descriptor that there is": (
        {OK},
        """
import os
held = []
try:
    while len(held) < 100_000: held.append(os.dup(3))
    print('ESCAPED descriptors')
except OSError as error: print('BLOCKED', error)
""",
    ),
    "widens the pipes that the judge reads": (
        {OK},
        """
import fcntl
for fd in (0, 1, 2, 3):
    try:
        if fcntl.fcntl(fd, 1031, 1 << 26) > 1 << 20: print('ESCAPED pipe size')
    except OSError as error: print('BLOCKED', error)
""",
    ),
    "has signals sent to everyone when a pipe is ready": (
        {OK},
        """
import fcntl
for owner in (-1, 1, 2, 3, 100):
    for command in (8, 10):
        try: fcntl.fcntl(0, command, owner)
        except OSError as error: print('BLOCKED', error)
try: fcntl.fcntl(0, 4, fcntl.fcntl(0, 3) | 0x2000)
except OSError as error: print('BLOCKED', error)
""",
    ),
    "kills its whole group": (
        {OK, CRASH},
        """
import os, signal
for send in (lambda: os.kill(0, 9), lambda: os.killpg(0, 9), lambda: os.killpg(os.getpgrp(), 9)):
    try: send()
    except OSError as error: print('BLOCKED', error)
""",
    ),
    "queues signals to other processes": (
        {OK},
        """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for number in (129, 297, 424):
    for pid in (2, 3, 10, 100):
        if libc.syscall(number, pid, 9, 0, 0) == 0: print('ESCAPED queue', number, pid)
""",
    ),
    "rings an alarm that nobody catches": (
        {OK, CRASH},
        "import signal, time\nsignal.setitimer(signal.ITIMER_REAL, 0.05)\ntime.sleep(0.2)",
    ),
    "catches every signal and loops": (
        {TIME},
        """
import signal
for number in range(1, 65):
    try: signal.signal(number, lambda *_: None)
    except (OSError, ValueError): pass
while True: pass
""",
    ),
    "interrupts the driver's own thread": (
        {OK, ERROR, CRASH, NOTHING, TIME},
        "import _thread, time\n_thread.interrupt_main()\ntime.sleep(0.1)",
    ),
    "reads the clocks of other processes": (
        {OK},
        """
import os, time
own = {os.getpid()}
for pid in range(2, 3000):
    try: time.clock_gettime((~pid << 3) | 2)
    except OSError: continue
    if not os.path.isdir(f'/proc/{pid}') and pid > 64: print('ESCAPED clock of', pid)
""",
    ),
    "listens to the machine's load": (
        {OK},
        """
import os
try: print('ESCAPED load', os.getloadavg())
except OSError as error: print('BLOCKED', error)
for path in ('/proc/loadavg', '/proc/stat', '/proc/uptime', '/proc/interrupts', '/proc/self/schedstat'):
    try: print('ESCAPED', open(path).read(9))
    except OSError as error: print('BLOCKED', error)
""",
    ),
    "counts with the processor's own counters": (
        {OK},
        """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(128)
print('ESCAPED perf' if libc.syscall(298, buffer, 0, -1, -1, 0) >= 0 else 'BLOCKED')
""",
    ),
    "closes and replaces the streams": (
        ANY_END,
        """
import sys
sys.stdout.close()
class Stream:
    def write(self, text): self.write(text)
    def flush(self): 1 / 0
sys.stdout = sys.stderr = sys.__stdout__ = Stream()
print('x')
""",
    ),
    "leaves an environment for the next": (
        {OK},
        "import os\nos.environ['LD_PRELOAD'] = '/tmp/x.so'\nos.putenv('PYTHONSTARTUP', '/tmp/x.py')",
    ),
    "hangs in a thread that nobody waits for": (
        {OK, TIME},
        "import threading, time\nthreading.Thread(target=time.sleep, args=(99,)).start()",
    ),
}
