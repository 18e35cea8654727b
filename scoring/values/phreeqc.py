"""PHREEQC as a simulator: the optional extra `phreeqc`, its heading rule, tighter settings, and what its reports hold
that no other run prints alike."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping
from pathlib import Path

from scoring.values.sections import heading_rule
from scoring.values.simulator import Simulator

DATABASES = (
    *("phreeqc.dat", "Amm.dat", "ColdChem.dat", "Concrete_PHR.dat", "Concrete_PZ.dat", "Kinec.v2.dat", "Kinec_v3.dat"),
    *("PHREEQC_ThermoddemV1.10_15Dec2020.dat", "Tipping_Hurley.dat", "core10.dat", "frezchem.dat", "iso.dat"),
    *("llnl.dat", "minteq.dat", "minteq.v4.dat", "phreeqc_rates.dat", "pitzer.dat", "sit.dat", "wateq4f.dat"),
)
TIME_BOX = re.compile(r"^-+\nEnd of Run after .*\n-+\n+\Z", re.MULTILINE)
STATES = (
    r"(?:Initial solution|Exchange|Surface|Gas-Phase|Reaction step|Transport step|Beginning of advection time step)"
    r"[ \t]+\d+"
)
TIGHT = """KNOBS
    -convergence_tolerance 1e-12
    -iterations 800
    -step_size 5
    -pe_step_size 3
"""
TOLERANCE, STEPS = "    -tol 1e-12\n", "    -runge_kutta 6\n    -step_divide 200\n"
_KINETICS = re.compile(r"^[ \t]*kinetics\b[^\n]*\n", re.IGNORECASE | re.MULTILINE)
_SETTING = re.compile(r"^[ \t]*-?(?:tol\w*|runge_kutta|rk|step_divide)[ \t][^\n]*\n", re.IGNORECASE | re.MULTILINE)
_REACTANT = re.compile(r"^[ \t]*[A-Za-z]\S*[ \t]*\n", re.MULTILINE)
_KEYWORD = re.compile(
    r"^[ \t]*(?:END|USE|SAVE|COPY|DELETE|DUMP|RUN_CELLS|TITLE|COMMENT|PRINT|KNOBS|DATABASE|RATES|PHASES|MIX|INCLUDE\$"
    r"|EQUILIBRIUM_PHASES|EXCHANGE\w*|SURFACE\w*|SOLUTION\w*|SOLID_SOLUTIONS|GAS_PHASE|REACTION\w*|INCREMENTAL_\w*"
    r"|INVERSE_MODELING|ADVECTION|TRANSPORT|SELECTED_OUTPUT|USER_\w+|ISOTOPE\w*|CALCULATE_VALUES|PITZER|SIT|KINETICS"
    r"|LLNL\w*|NAMED_\w*|RATE_\w*|MEAN_\w*)\b",
    re.MULTILINE | re.IGNORECASE,
)


def is_installed() -> bool:
    """Whether the extra is there; it is not loaded here."""
    return importlib.util.find_spec("phreeqc") is not None


def cleaned(report: str) -> str:
    """Without the closing box that tells how many seconds the run took."""
    return TIME_BOX.sub("", report)


def tightened(input_text: str) -> Mapping[str, str]:
    """Tighter convergence, and where something happens at a rate, smaller steps of it too."""
    text = input_text.replace("\r\n", "\n")
    found = {"tight_convergence": TIGHT + text}
    if _KINETICS.search(text):
        found["small_step"] = _smaller_steps(text)
    return found


def _smaller_steps(text: str) -> str:
    """The settings of every block of kinetics replaced, the tolerance for each of its reactants; nothing else of the
    input is touched."""
    parts, last = [], 0
    for block in _KINETICS.finditer(text):
        following = _KEYWORD.search(text, block.end())
        end = following.start() if following else len(text)
        body = text[block.end() : end]
        if body and not body.endswith("\n"):
            body += "\n"
        body = _REACTANT.sub(lambda one: one.group() + TOLERANCE, _SETTING.sub("", body))
        parts += [text[last : block.end()], body, STEPS]
        last = end
    return "".join([*parts, text[last:]])


PHREEQC = Simulator(
    key="phreeqc",
    name="PHREEQC",
    program=Path(__file__).with_name("phreeqc_worker.py"),
    databases=DATABASES,
    headings=heading_rule(STATES),
    is_echo=lambda title: title.startswith("Reading input data for simulation ") or title == "TITLE",
    is_installed=is_installed,
    tightened=tightened,
    cleaned=cleaned,
)
