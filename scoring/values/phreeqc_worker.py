"""The program of PHREEQC: one input with one database, in a child that keeps nothing for the next. It needs the extra
`phreeqc`.

The engine reads and writes files that an input names (INCLUDE$, SELECTED_OUTPUT -file and more), so the folder is
locked by then; where it cannot be, an input that may name a file is not taken.
"""

import hashlib
import re
from pathlib import Path

import phreeqc

NUMBERED = re.compile(r"(?:^|[;\n])[ \t]*(?:selected_output|user_punch)\s+(\d{1,9})\b", re.IGNORECASE)
INCLUDES = re.compile(r"include\$", re.IGNORECASE)
FILES = re.compile(
    r"(?:^|[;\n])[ \t]*-?(?:f|fi|fil|file|dump[a-z_]*|lon_[a-z_]*|[a-z_]+_file)[ \t]+([^\n;#]+)", re.IGNORECASE
)
PLAIN = re.compile(r"(?!.*\.\.)[\w.-]+\s*|(?:true|false)\s*")


def prepared(database):
    folder = Path(phreeqc.__file__).with_name("databases")
    engine = phreeqc.Phreeqc()
    if engine.LoadBuiltInDatabase(database):
        raise ValueError(engine.GetErrorString())
    return engine, hashlib.sha256((folder / database).read_bytes()).hexdigest()


def refused(input_text):
    joined = re.sub(r"\\[ \t\r]*\n", " ", input_text)
    if INCLUDES.search(joined):
        return "INCLUDE$"
    named = next((one[1] for one in FILES.finditer(joined) if not PLAIN.fullmatch(one[1])), "")
    return named[:200]


def simulated(state, input_text):
    engine, database_sha256 = state
    engine.SetOutputStringOn(True)
    engine.SetOutputFileOn(False)
    engine.SetErrorStringOn(True)
    for number in sorted({1, *map(int, NUMBERED.findall(input_text))}):
        engine.SetCurrentSelectedOutputUserNumber(number)
        engine.SetSelectedOutputFileOn(True)
    n_errors = engine.RunString(input_text)
    error = engine.GetErrorString()
    return {
        "ok": n_errors == 0,
        "report": engine.GetOutputString() + (f"\n{error}" if n_errors else ""),
        "error": error,
        "warnings": engine.GetWarningString(),
        "version": phreeqc.Phreeqc.GetVersionString(),
        "database_sha256": database_sha256,
    }
