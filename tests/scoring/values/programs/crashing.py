import ctypes


def prepared(database):
    return None


def refused(input_text):
    return "a file" if "FILE" in input_text else ""


def simulated(state, input_text):
    ctypes.string_at(0)
