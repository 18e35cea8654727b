"""The localiser: stages, what counts as seen, skipped reports, rounding traps and causes."""

import json
from dataclasses import replace

import pytest

from scoring.methods.delivery import METHOD
from scoring.methods.delivery_schema import SCHEMA
from scoring.methods.records import records_of
from scoring.values.items import Option, ValueItem, item_record, verified
from scoring.values.localiser import RULE, Index, localise, run_record
from scoring.values.logs import read_log
from scoring.values.numbers import number
from scoring.values.phreeqc import PHREEQC
from scoring.values.tiny import TINY
from tests.scoring.values import reference

ECHO = "-----\nTITLE\n-----\n {}\n-----\nBeginning of cooling.\n-----\n"


def question(key="7.124", *others, kind="numeric"):
    """A question whose key is A, with these further options."""
    values = dict(zip("ABCDE", [key, *(others or ("9.999",))], strict=False))
    options = tuple(Option(label, text, number(text)) for label, text in values.items())
    return ValueItem("q1", "cup", kind, {"en": "?"}, options, "A")


class Run:
    """A log that is written step by step."""

    def __init__(self, condition="toc"):
        self.condition, self.steps, self.simulations = condition, [], []

    def step(self, kind="other", text="", tool="read_file", **args):
        seq = len(self.steps) + 1
        row = {"type": "step", "seq": seq, "tool": tool, "args": args, "result_text": text, "result_kind": kind}
        self.steps.append(row)
        return self

    def execute(self, report, kind="index", text="1-2 (9) title", ok=True, **files):
        self.step(kind, text, "execute", path="input.txt")
        self.simulations.append(
            {
                **{"type": "simulation", "step": len(self.steps), "input_text": "END", "database": "still.air"},
                **{"success": ok, "report_text": report},
                "extra_files": {name.replace("_", "."): text for name, text in files.items()},
            }
        )
        return self

    def log(self, answer="A", parse="ok"):
        rows = [
            {"type": "run", "id": "r", "item": "q1", "condition": self.condition, "model": "m"},
            *self.steps,
            *self.simulations,
            {"type": "end", "answer": answer, "answer_parse": parse},
        ]
        read = read_log("\n".join(map(json.dumps, rows)))
        assert not read.problems
        return read.log

    def verdict(self, item=None, answer="A", parse="ok"):
        return localise(self.log(answer, parse), item or question(), TINY.headings, TINY.is_echo)


# The runs of the reference


@pytest.mark.parametrize("name", reference.verdicts())
def test_a_recorded_run_has_the_verdict_written_down_for_it(name):
    log = reference.runs()[name]
    found = localise(log, reference.items()[log.item], PHREEQC.headings, PHREEQC.is_echo)
    expected = reference.verdicts()[name]["verdict"]
    assert {field: getattr(found, field) for field in expected} == expected
    assert (found.rule, found.problems) == (RULE, ())


def test_verdicts_with_one_index_for_all_runs_are_the_same_and_equal_texts_are_read_once():
    index = Index()
    read = []
    for log in [*reference.runs().values()] * 2:
        item = reference.items()[log.item]
        alone = localise(log, item, PHREEQC.headings, PHREEQC.is_echo)
        assert localise(log, item, PHREEQC.headings, PHREEQC.is_echo, index) == alone
        read.append(index.n_read)
    assert read[-1] == read[15] > 0


def test_an_index_keeps_a_bounded_number_of_texts():
    index = Index(most=3)
    for name in "abcde":
        index.found(number("7.124"), "7.124", name)
    index.found(number("7.124"), "7.124", "e")
    assert index.n_read == 5
    index.found(number("7.124"), "7.124", "a")
    assert index.n_read == 6


def test_the_method_takes_the_verdicts_and_accuracy_is_the_sum_of_its_stages():
    logs = reference.runs().values()
    items = {log.item: reference.items()[log.item] for log in logs}
    rows = [item_record(one, verified(one, reference.printed()[name] or {}), False) for name, one in items.items()]
    found = [localise(log, items[log.item], PHREEQC.headings, PHREEQC.is_echo) for log in logs]
    rows += [run_record(log, one) for log, one in zip(logs, found, strict=True)]
    records = records_of(rows, SCHEMA)
    assert len(records["run"]) == 16
    p = sum(bool(one.built) for one in found) / 16
    s = sum(bool(one.exposed) for one in found) / (16 * p)
    c = sum(bool(one.closed) for one in found) / (16 * p * s)
    u = sum(one.correct and not one.exposed for one in found) / 16
    assert abs(p * s * c + u - sum(one.correct for one in found) / 16) < 1e-12
    assert METHOD.of(records, {"n_resamples": 100, "n_flips": 100}).tables


# Built and exposed


def test_a_value_in_a_file_that_was_never_read_is_built_and_not_exposed():
    found = Run().execute("nothing", more_txt="7.1240\n").verdict(answer="B")
    assert (found.built, found.exposed, found.closed, found.cause) == (True, False, None, "retrieval_channel")
    assert [(one.step, one.file, one.line) for one in found.built_where] == [(1, "more.txt", 1)]


@pytest.mark.parametrize(
    ("kind", "exposed"),
    [
        ("report", True),
        ("report_part", True),
        ("search_hits", True),
        ("own_file", True),
        ("index", False),
        ("other", False),
    ],
)
def test_an_index_and_metadata_expose_nothing(kind, exposed):
    found = Run().execute("a\nVessel 7.124\n").step(kind, "Vessel 7.124").verdict()
    assert (found.built, found.exposed) == (True, exposed)


def test_a_value_of_a_failed_simulation_is_not_built():
    found = Run().execute("Vessel 7.124\n", ok=False).step("report_part", "Vessel 7.124\n").verdict()
    assert (found.built, found.exposed, found.executed, found.report_skipped) == (False, False, False, None)
    assert found.seen_where == ()


def test_where_the_report_repeats_its_input_nothing_counts():
    report = ECHO.format("I think 7.124") + "Vessel 9.999\n"
    assert Run().execute(report).verdict().built is False
    report = ECHO.format("I think 7.124") + "Vessel 7.124\n"
    part = "I think 7.124\n-----\nBegin"
    found = Run().execute(report).step("report_part", part, path="result.out").verdict()
    assert (found.built, found.exposed) == (True, False)
    line = report[: report.find("I think")].count("\n") + 1
    hits = f"1 hits, 1 shown\n{line}:  I think 7.124"
    assert Run().execute(report).step("search_hits", hits).verdict().exposed is False
    hits = f"1 hits, 1 shown\n{line + 4}: Vessel 7.124"
    assert Run().execute(report).step("search_hits", hits).verdict().exposed is True


def test_numbers_of_lines_and_sizes_around_a_report_do_not_count():
    report = "Vessel 1838\n" + "x\n" * 200
    head = f"ok: true\nresult.out: {1838} characters, 202 lines\nfiles: result.out\n"
    hits = "1838 hits, 1 shown\n1838: x"
    item = question("1838", "99")
    assert Run().execute(report).step("search_hits", hits).verdict(item).exposed is False
    only_head = Run().execute(report, kind="report", text=head + report.replace("1838", "1", 1))
    assert only_head.verdict(item).exposed is True  # not the report's own text: everything in it counts
    assert Run().execute("x\n" * 300, kind="report", text=head + "x\n" * 300).verdict(item).built is False
    again = Run().execute(report, kind="index").execute("x\n" * 300, kind="report", text=head + "x\n" * 300)
    assert again.verdict(item).exposed is False


def test_the_line_that_says_what_was_cut_does_not_count():
    report = "Vessel 1838\n" + "y\n" * 3_000
    text = report[20:220] + "\n[middle of the report left out: 1838 characters and more]\n" + report[-200:]
    cut_report = report[20:]
    run = Run("raw100k").execute(report).execute(cut_report, kind="report", text=text)
    assert run.verdict(question("1838", "99")).exposed is False


def test_text_that_the_agent_wrote_itself_does_not_count():
    written = Run().execute("Vessel 7.124\n").step(tool="write_file", path="notes.txt", content="7.124")
    assert written.step("own_file", "7.124", path="./notes.txt").verdict().exposed is False
    over = Run().execute("Vessel 7.124\n").step(tool="write_file", path="result.out", content="7.124")
    found = over.step("report_part", "7.124", path="result.out").verdict()
    assert (found.exposed, found.report_part_seen) == (False, False)


def test_a_file_that_a_simulation_wrote_since_is_the_simulators():
    run = Run().step(tool="write_file", path="more.txt", content="7.124").execute("Vessel 7.124\n", more_txt="7.124\n")
    assert run.step("own_file", "7.124\n", path="more.txt").verdict().exposed is True


def test_an_instruction_below_a_result_changes_nothing():
    plain = Run("toc_round").execute("a\nVessel 7.124\n").step("report_part", "Vessel 7.124\n").verdict()
    assert plain.exposed is True


def test_two_simulations_of_one_step_are_both_read():
    log = Run().execute("Vessel 9.9\n").log()
    again = replace(log.simulations[0], report_text="Vessel 7.124\n")
    for both in ((*log.simulations, again), (again, *log.simulations)):
        found = localise(replace(log, simulations=both), question(), TINY.headings, TINY.is_echo, Index())
        assert found.built is True


def test_a_number_with_fewer_digits_builds_nothing():
    assert Run().execute("Vessel 7.12\n").verdict().built is False


# Closure, cause, skipping


@pytest.mark.parametrize(
    ("answer", "parse", "closed", "correct", "cause"),
    [
        ("A", "ok", True, True, None),
        ("B", "ok", False, False, "held_value_error"),
        (None, "none", False, False, "held_value_error"),
        (None, "refusal", False, False, "held_value_error"),
    ],
)
def test_closure_is_the_answer_after_the_value_was_seen(answer, parse, closed, correct, cause):
    found = Run().execute("Vessel 7.124\n").step("report_part", "Vessel 7.124\n").verdict(answer=answer, parse=parse)
    assert (found.closed, found.correct, found.cause) == (closed, correct, cause)


def test_a_wrong_answer_without_a_value_is_a_failure_to_build():
    assert Run().execute("Vessel 9.9\n").verdict(answer="B").cause == "build_failure"


@pytest.mark.parametrize(
    ("kind", "text", "skipped"),
    [
        ("index", "1-2 (9) title", True),
        ("other", "ok", True),
        ("own_file", "7.124", True),
        ("search_hits", "0 hits, 0 shown", True),
        ("report_part", "", True),
        ("search_hits", "1 hits, 1 shown\n1: a", False),
        ("report_part", "a line", False),
    ],
)
def test_a_report_is_skipped_where_no_part_of_it_reached_the_agent(kind, text, skipped):
    assert Run().execute("a line\n").step(kind, text).verdict().report_skipped is skipped


def test_a_question_without_a_number_is_not_judged():
    item = replace(question(kind="other"), options=(Option("A", "warm"), Option("B", "cold")))
    found = Run().execute("a line\n").verdict(item, answer="B")
    assert (found.built, found.exposed, found.closed, found.correct, found.cause) == (None, None, None, False, "other")


def test_a_log_that_lacks_a_report_is_named_and_not_judged():
    found = Run().execute(None).step("report_part", "Vessel 7.124").verdict()
    assert (found.built, found.exposed, found.closed) == (None, None, None)
    assert [(one.code, one.params["step"]) for one in found.problems] == [("report_missing", 1)]
    assert "built" not in run_record(Run().execute(None).log(), found)
    other = Run().execute(None).execute("Vessel 7.124\n").step("report_part", "Vessel 7.124\n").verdict()
    assert (other.built, other.exposed, len(other.problems)) == (True, True, 1)


# Precision and traps


@pytest.mark.parametrize(
    ("texts", "precision"),
    [(["7.124"], "report"), (["7.1235"], "more_digits"), (["7.124", "7.1235"], "both"), (["7.12"], "none")],
)
def test_a_value_is_seen_with_the_digits_of_the_options_or_with_more(texts, precision):
    run = Run().execute("Vessel 7.124\n")
    for text in texts:
        run.step("own_file", text, path="more.txt")
    assert run.verdict().seen_precision == precision


@pytest.mark.parametrize(
    ("key", "other", "seen", "trap"),
    [
        ("7.124", "7.123", "7.1239", True),
        ("7.123", "7.122", "7.1231", False),
        ("7.124", "7.122", "7.1239", False),
        ("-7.124", "-7.123", "-7.1239", True),
        ("1.5e-03", "1.4e-03", "1.46e-03", True),
        ("0.0015", "1.4e-03", "0.00146", True),
    ],
)
def test_a_trap_is_a_value_whose_cut_digits_are_another_option(key, other, seen, trap):
    run = Run().execute("x\n", more_txt=seen).step("own_file", seen, path="more.txt")
    wrong, right = (run.verdict(question(key, other), answer=answer) for answer in "BA")
    assert (wrong.trap, right.trap) == (trap, trap)
    chose = [one.chose_truncated_neighbour for one in (wrong, right)]
    assert chose == ([True, False] if trap else [None, None])


def test_there_is_no_trap_where_the_value_was_seen_as_the_options_have_it():
    run = Run().execute("Vessel 7.124\n", more_txt="7.1239")
    run.step("own_file", "7.1239", path="more.txt").step("report_part", "Vessel 7.124\n", path="result.out")
    found = run.verdict(question("7.124", "7.123"), answer="B")
    assert (found.seen_precision, found.trap, found.chose_truncated_neighbour) == ("both", False, None)


def test_many_places_are_kept_in_part_and_every_step_stays():
    many = "Vessel 7.124\n" * 1_000
    found = Run().execute(many).step("report_part", many).step("report_part", "Vessel 7.124\n").verdict()
    assert found.seen_steps == [2, 3]
    assert len(found.seen_where) < 300
    assert json.dumps(found.as_dict())
