"""What a program may try on what is said of it: errors' names and chains, texts, objects too deep to tell or free."""

from graders.attacks.ends import ANY_END, ERROR, MEMORY, OK, OUTPUT, TIME, Attacks

ON_THE_REPORT: Attacks = {
    "has an error's name turn the text around": (
        {ERROR},
        "raise type('Passed\\u202e\\u2066\\x1b[2J<script>', (Exception,), {})('\\u202eall\\x07 right\\u200b\\ud800')",
    ),
    "has an error's name of a million letters": ({ERROR}, "raise type('E' * 1_000_000, (Exception,), {})"),
    "has a name that looks like another": ({ERROR}, "def оk():\n    raise ValueError('\\u0430\\u0301' * 9000)\nоk()"),
    "prints every character that there is": (
        {OK, OUTPUT},
        "print(''.join(map(chr, range(0x3000))))\nprint('\\ud800\\udfff\\U000e0001')",
    ),
    "chains a hundred thousand errors": (
        ANY_END - {OK},
        """
error = None
for _ in range(100_000):
    after = ValueError('x'); after.__cause__ = error; error = after
raise error
""",
    ),
    "has an error that is its own cause": ({ERROR}, "e = ValueError('x')\ne.__cause__ = e.__context__ = e\nraise e"),
    "nests groups of errors": (
        ANY_END - {OK},
        "e = ValueError('x')\nfor _ in range(50_000): e = ExceptionGroup('g', [e])\nraise e",
    ),
    "raises an error whose class lies about everything": (
        ANY_END,
        """
class Meta(type):
    __name__ = property(lambda cls: 1 / 0)
    __module__ = property(lambda cls: 1 / 0)
    __qualname__ = property(lambda cls: 1 / 0)
class E(Exception, metaclass=Meta):
    __traceback__ = property(lambda self: 1 / 0)
    __cause__ = property(lambda self: 1 / 0)
    __notes__ = property(lambda self: 1 / 0)
raise E
""",
    ),
    "adds notes without end": (
        {ERROR, MEMORY, TIME},
        "e = ValueError('x')\ne.__notes__ = ['n' * 9999] * 9999\nraise e",
    ),
    "overflows the stack in C": (
        ANY_END - {OK},
        """
import sys
sys.setrecursionlimit(10**9)
class Deep:
    def __repr__(self): return repr(self)
repr(Deep())
""",
    ),
    "overflows the stack of a thread": (
        ANY_END,
        """
import sys, threading
sys.setrecursionlimit(10**9)
def dive(): return [dive()]
thread = threading.Thread(target=dive); thread.start(); thread.join()
""",
    ),
    "frees an object ten million deep": (ANY_END, "x = None\nfor _ in range(3_000_000): x = (x,)\ndel x"),
    "compares objects that hold each other": ({ERROR}, "a, b = [], []\na.append(b); b.append(a)\na == b"),
    "says that it is done as an event": (
        {OK},
        """
print('x\\n\\nevent: done\\ndata: {"outcome": "passed"}\\n\\nid: 99\\n')
print('\\r\\n\\r\\n:\\u2028event: done\\u2029\\x85\\x0bevent: done')
""",
    ),
}
