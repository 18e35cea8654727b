"""`python -I child.py`: the child in which a simulator runs, with its bounds. It reads one JSON request from standard
input and prints one JSON answer; what the simulator itself prints goes nowhere.

The request names the program of the simulator, a Python file with `prepared(database)`, which reads what it needs, and
`simulated(state, input_text)`, which runs in an empty working folder and gives `ok`, `report` and further texts. In
between the folder becomes the only place that this process may read or write, and it may start no other process and
open no connection. Where the system cannot lock files, `refused(input_text)` of the program says which inputs it then
does not take.
"""

import contextlib
import ctypes
import json
import os
import platform
import resource
import runpy
import stat
import struct
import sys
from pathlib import Path

LANDLOCK_CREATE, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT = 444, 445, 446
VERSION_FLAG, RULE_PATH_BENEATH = 1, 1
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_FILTER = 38, 22, 2
FORBIDDEN = {
    "x86_64": (0xC000003E, 56, 435, (57, 58, 59, 322, 41, 101)),
    "aarch64": (0xC00000B7, 220, 435, (221, 281, 198, 117)),
}
"""By machine: its mark, the calls clone and clone3, and those that are never allowed: fork, vfork, execve, execveat,
socket and ptrace, as far as it has them."""
CLONE_THREAD = 0x10000
ALLOW, KILL, NOT_THERE = 0x7FFF0000, 0x80000000, 0x00050000 | 38
LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
TEXTS = ("report", "error", "warnings", "version", "database_sha256")


def main():
    answer_to = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    request = json.load(sys.stdin)
    try:
        answer = answered(request)
    except MemoryError:
        answer = failed("out_of_memory")
    except OSError as error:
        answer = failed("too_much_output" if error.errno == 27 else "crashed", type(error).__name__)
    except Exception as error:
        answer = failed("crashed", type(error).__name__)
    with os.fdopen(answer_to, "w", encoding="utf-8", errors="replace") as out:
        json.dump(answer, out)


def answered(request):
    limit(request)
    program = runpy.run_path(request["program"])
    state = program["prepared"](request["database"])
    is_locked = request["locks"] and lock(Path.cwd())
    if not is_locked and (detail := program["refused"](request["input_text"])):
        return failed("not_locked", detail)
    forbid_processes()
    found = program["simulated"](state, request["input_text"])
    if len(found["report"]) > request["most_characters"]:
        return failed("too_much_output")
    files, is_whole = extra_files(Path.cwd(), request["most_files"], request["most_characters"])
    if not is_whole:
        return failed("too_much_output")
    texts = {name: str(found.get(name, "")) for name in TEXTS}
    return {**texts, "ok": bool(found["ok"]), "reason": "", "extra_files": files, "is_locked": bool(is_locked)}


def failed(reason, detail=""):
    return {"ok": False, "reason": reason, "error": detail}


def limit(request):
    for name, most in (
        ("RLIMIT_CPU", request["seconds"]),
        ("RLIMIT_AS", request["most_memory"]),
        ("RLIMIT_FSIZE", request["most_file"]),
        ("RLIMIT_CORE", 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # a system may not know one of them
            resource.setrlimit(getattr(resource, name), (most, most + (name == "RLIMIT_CPU")))


def lock(folder):
    """Only this folder can be read and written from here on; whether the system could do so (Landlock)."""
    if sys.platform != "linux":
        return False
    call = ctypes.CDLL(None, use_errno=True).syscall
    version = call(LANDLOCK_CREATE, None, ctypes.c_size_t(0), VERSION_FLAG)
    if version < 1:
        return False
    rights = (1 << (13 + (version >= 2) + (version >= 3) + (version >= 5))) - 1
    handled = ctypes.create_string_buffer(struct.pack("=Q", rights), 8)
    rules = call(LANDLOCK_CREATE, handled, ctypes.c_size_t(8), 0)
    if rules < 0:
        return False
    place = os.open(folder, os.O_PATH)
    beneath = ctypes.create_string_buffer(struct.pack("=Qi", rights, place), 12)
    done = call(LANDLOCK_ADD_RULE, rules, RULE_PATH_BENEATH, beneath, 0)
    done = done or not no_new_privileges() or call(LANDLOCK_RESTRICT, rules, 0)
    os.close(place)
    os.close(rules)
    return not done


def no_new_privileges():
    return ctypes.CDLL(None, use_errno=True).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0


def forbid_processes():
    """A call that starts a process or opens a connection ends this one; threads stay possible."""
    known = FORBIDDEN.get(platform.machine()) if sys.platform == "linux" else None
    if known is None or not no_new_privileges():
        return
    mark, clone, clone3, never = known
    steps = [(LOAD, 0, 0, 4), (EQUAL, 1, 0, mark), (RETURN, 0, 0, KILL), (LOAD, 0, 0, 0)]
    for number in never:
        steps += [(EQUAL, 0, 1, number), (RETURN, 0, 0, KILL)]
    steps += [(EQUAL, 0, 1, clone3), (RETURN, 0, 0, NOT_THERE)]  # its users then take clone, whose flags can be read
    steps += [(EQUAL, 0, 3, clone), (LOAD, 0, 0, 16), (ANY_BIT, 1, 0, CLONE_THREAD), (RETURN, 0, 0, KILL)]
    steps += [(RETURN, 0, 0, ALLOW)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(steps), ctypes.addressof(code)))
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_SECCOMP, SECCOMP_FILTER, program, 0, 0)


def extra_files(folder, most_files, most_characters):
    """The texts that lie in the folder by name, and whether they are all: too many are no result."""
    found = {}
    for entry in sorted(os.scandir(folder), key=lambda one: one.name):
        if not stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode):
            continue
        most_characters -= entry.stat(follow_symlinks=False).st_size
        if len(found) == most_files or most_characters < 0:
            return {}, False
        found[entry.name] = Path(entry.path).read_bytes().decode("utf-8", "replace")
    return found, True


if __name__ == "__main__":
    main()
