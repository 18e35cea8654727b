"""What an input could make a simulator do; the input names one of them."""

import os
import socket
import sys
import threading
import time
from pathlib import Path

kept = []


def prepared(database):
    return None


def refused(input_text):
    return "FILE" if "FILE" in input_text else ""


def simulated(state, input_text):
    word, _, path = input_text.partition(" ")
    return globals()[word](path) or {"ok": True, "report": "done\n"}


def fine(path):
    Path("more.txt").write_text("7.0779\n", encoding="utf-8")


def nothing(path):
    return {"ok": True, "report": ""}


def sleeps(path):
    time.sleep(60)


def spins(path):
    while True:
        pass


def eats(path):
    while True:
        kept.append(bytearray(50_000_000))


def floods(path):
    return {"ok": True, "report": "7.078 " * 1_000_000}


def prints(path):
    for _ in range(200):
        sys.stdout.write("x" * 1_000_000)
        os.write(1, b"x" * 1_000_000)
        os.write(2, b"x" * 1_000_000)


def answers(path):
    while True:
        os.write(3, b"x" * 1_000_000)


def one_file(path):
    with Path("big.txt").open("wb") as file:
        while True:
            file.write(b"x" * 1_000_000)


def many_files(path):
    for number in range(100):
        Path(f"{number}.txt").touch()


def forks(path):
    if os.fork() == 0:
        os.setsid()
        time.sleep(60)


def starts(path):
    os.system("sleep 60")


def threads(path):
    found = threading.Thread(target=kept.append, args=(1,))
    found.start()
    found.join()
    return {"ok": bool(kept), "report": "done\n"}


def connects(path):
    socket.socket()


def raises(path):
    raise ValueError("7.078")


def exits(path):
    os._exit(7)


def lies(path):
    os.write(3, b"not JSON")
    os._exit(0)


def reads(path):
    return {"ok": True, "report": Path(path).read_text(encoding="utf-8")}


def writes(path):
    Path(path).write_text("x", encoding="utf-8")


def links(path):
    os.symlink(path, "link.txt")
