"""The program of the tiny simulator: a vessel that cools in a room, step by step, in decimal arithmetic.

    TITLE a cup on a desk        repeated in the report
    START 80                     temperature at the beginning, 20 where absent
    ROOM 18.5                    of the room, 15 where absent
    RATE 0.13                    per minute, 0.1 where absent; the database multiplies it
    EVERY 5                      minutes of a step, 1 where absent
    STEPS 4                      how many, 1 where absent
    PARTS 20                     in how many parts a step is worked out, 20 where absent
    SAVE more.txt 12             the temperatures once more, in a file, with so many digits
    PRINT no                     only the input is repeated in the report
    END                          the simulation runs; another one may follow, which begins where it ended
"""

from decimal import Decimal, InvalidOperation, getcontext

VERSION = "1.0"
DATABASES = {"still.air": Decimal(1), "moving.air": Decimal("1.7")}
NAMES = {"TITLE", "START", "ROOM", "RATE", "EVERY", "STEPS", "PARTS", "SAVE", "PRINT"}
getcontext().prec = 30


class Wrong(Exception):
    pass


def prepared(database):
    return DATABASES[database]


def refused(input_text):
    """Only a plain name is taken for a file, so there is nothing to lock."""
    return ""


def simulated(factor, input_text):
    report, error, temperature = [], "", None
    blocks = parted(input_text)
    for number, lines in enumerate(blocks, 1):
        report += box(f"Reading input data for simulation {number}.") + [f"\t{line}" for line in lines]
        if number == len(blocks):  # what follows the last END
            break
        try:
            temperature = run(factor, lines, temperature, report)
        except Wrong as wrong:
            error = f"ERROR: {wrong}"
            report.append(error)
            break
    text = "\n".join(report) + "\n" if input_text.strip() else ""
    return {"ok": not error, "report": text, "error": error, "version": VERSION}


def parted(input_text):
    blocks = [[]]
    for line in input_text.replace("\r\n", "\n").split("\n"):
        if line.strip() == "END":
            blocks[-1].append("END")
            blocks.append([])
        elif line.strip():
            blocks[-1].append(line.strip())
    return blocks


def run(factor, lines, temperature, report):
    said = read([line for line in lines if line != "END"])
    if "TITLE" in said:
        report += [*box("TITLE"), "", f" {said['TITLE']}", ""]
    temperature = value(said, "START", "20") if temperature is None or "START" in said else temperature
    room, rate, every = value(said, "ROOM", "15"), value(said, "RATE", "0.1") * factor, value(said, "EVERY", "1")
    n_steps, n_parts = whole(said, "STEPS", "1"), whole(said, "PARTS", "20")
    prints = said.get("PRINT", "yes") != "no"
    if prints:
        report += box("Beginning of cooling.")
    found = []
    for step in range(1, n_steps + 1):
        for _ in range(n_parts):
            temperature = later(temperature, room, rate, every / n_parts)
        found.append((step, temperature))
        if prints:
            shown = [
                *(f"Step {step}.", "", ruled("Temperatures"), ""),
                *(f"\tVessel           {temperature:.4f}", f"\tRoom             {room:.2f}"),
                *(f"\tAbove the room   {temperature - room:.3e}", ""),
            ]
            report += shown
    if "SAVE" in said:
        save(said["SAVE"], found)
    if prints:
        report += box("End of simulation.")
    return temperature


def later(above, room, rate, minutes):
    """One step of the classical Runge-Kutta method for a temperature that falls in proportion to what it is above."""

    def slope(at):
        return -rate * (at - room)

    one = slope(above)
    two = slope(above + minutes * one / 2)
    three = slope(above + minutes * two / 2)
    four = slope(above + minutes * three)
    return above + minutes * (one + 2 * two + 2 * three + four) / 6


def save(words, found):
    name, _, digits = words.partition(" ")
    if not name.replace(".", "").replace("-", "").isalnum() or name.startswith("."):
        raise Wrong(f"{name} is no plain name of a file")
    n_digits = whole({"SAVE": digits or "12"}, "SAVE", "12")
    with open(name, "w", encoding="utf-8") as file:
        file.writelines(f"{step}\t{temperature:.{max(n_digits - 1, 0)}e}\n" for step, temperature in found)


def read(lines):
    said = {}
    for line in lines:
        name, _, rest = line.partition(" ")
        if name not in NAMES:
            raise Wrong(f"unknown word {name}")
        said[name] = rest.strip()
    return said


def value(said, name, usual):
    try:
        found = Decimal(said.get(name, usual))
    except InvalidOperation:
        raise Wrong(f"{name} needs a number") from None
    if not found.is_finite() or abs(found) > 10**6:
        raise Wrong(f"{name} is out of range")
    return found


def whole(said, name, usual):
    found = value(said, name, usual)
    if found != int(found) or found <= 0:
        raise Wrong(f"{name} needs a whole number above 0")
    return int(found)


def box(title):
    return ["-" * len(title), title, "-" * len(title)]


def ruled(title):
    return title.center(72, "-")
