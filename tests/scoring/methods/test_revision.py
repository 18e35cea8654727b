"""Revision after a message: printed figures from records with the printed counts, and small cases worked by hand."""

import json
import re
from functools import cache
from itertools import product

import numpy as np
import pytest

from scoring.methods.records import RecordsRefused, records_of
from scoring.methods.revision import METHOD
from scoring.methods.revision_schema import SCHEMA
from scoring.methods.revision_teams import identity, stratum
from tests.scoring.methods.test_redundancy import REFERENCE, ROWS, in_another_order, reproduced, value

CRITICAL = "critical_evaluation"


def report_of(values, **settings):
    return METHOD.of(records_of(values, SCHEMA), {"n_resamples": 100, "n_resamples_rates": 100, **settings})


def initial(question, agent, answer, correct, set_="s", **more):
    return {"record": "initial", "set": set_, "question": question, "agent": agent, "answer": answer,
            "correct": correct, **more}  # fmt: skip


def revision(question, sender, receiver, answer, correct, channel="no_message", policy=CRITICAL, set_="s", **more):
    return {"record": "revision", "set": set_, "question": question, "sender": sender, "receiver": receiver,
            "channel": channel, "policy": policy, "answer": answer, "correct": correct, **more}  # fmt: skip


STRATA = {
    "correction": [("B", "A"), ("C", "A")],
    "preservation": [("A", "B"), ("A", "C")],
    "both_correct": [("B", "C"), ("C", "B")],
}


def mixed(n, conditions, set_="s", both_correct=True, policy=CRITICAL):
    """n questions that A alone has wrong, and of each channel so many right corrections and preservations (the first in
    the order of questions). Where both are right, everybody stays right."""
    records = []
    for i in range(n):
        records += [initial(f"q{i}", agent, "x" if agent == "A" else "y", agent != "A", set_) for agent in "ABC"]
    for channel, (n_corrected, n_preserved) in conditions.items():
        right = {"correction": n_corrected, "preservation": n_preserved, "both_correct": 2 * n}
        for name, directions in STRATA.items():
            if name == "both_correct" and not both_correct:
                continue
            for i in range(n):
                for j, (sender, receiver) in enumerate(directions):
                    yes = 2 * i + j < right[name]
                    answer = "y" if yes else "x"
                    records.append(revision(f"q{i}", sender, receiver, answer, yes, channel, policy, set_))
    return records


def figure(report, metric, channel, set_="s", policy=CRITICAL, **by):
    return value(report, metric, set=set_, policy=policy, channel=channel, **by)


def apart(report, metric, channels, set_="s"):
    return value(report, f"{metric}_difference", set=set_, policy=CRITICAL, channels=channels)


@cache
def medqa():
    return report_of(
        mixed(58, {"no_message": (30, 101), "answer_only": (60, 93), "full_text": (93, 49), "state_bridge": (63, 83)})
    )


@cache
def of_selectivity():
    report = medqa()
    figures = {
        f"i-medqa-{short}-{rate}": 100 * figure(report, rate, channel)
        for short, channel in (("ft", "full_text"), ("sb", "state_bridge"))
        for rate in ("cr", "pr")
    }
    for short, channel in (("ft", "full_text"), ("sb", "state_bridge")):
        figures[f"i-si-medqa-{short}"] = figures[f"i-si-medqa-{short}-rounded"] = 100 * figure(report, "si", channel)
    figures["i-net-diff"] = figure(report, "net", "state_bridge") - figure(report, "net", "full_text")
    figures["i-pr-gap-medqa"] = -100 * apart(report, "pr", "full_text - answer_only")
    return figures


@cache
def of_gaps_between_channels():
    sets = {
        "gpqa": (57, {"answer_only": (50, 80), "full_text": (70, 62)}),
        "arc": (49, {"answer_only": (40, 80), "full_text": (81, 60)}),
        "gsm": (46, {"answer_only": (60, 85), "full_text": (71, 60)}),
    }
    report = report_of([one for name, (n, found) in sets.items() for one in mixed(n, found, name)])
    pair = "full_text - answer_only"
    return {
        "i-pr-gap-gpqa": -100 * apart(report, "pr", pair, "gpqa"),
        "i-cr-gap-arc": 100 * apart(report, "cr", pair, "arc"),
        "i-cr-gap-gsm": 100 * apart(report, "cr", pair, "gsm"),
        "i-pr-span-gsm": -100 * apart(report, "pr", pair, "gsm"),
    }


@cache
def of_programs():
    report = report_of(
        mixed(14, {"no_message": (16, 26), "full_text": (21, 20), "latent": (24, 17), "state_bridge": (19, 27),
                   "once": (1, 0)})
    )  # fmt: skip
    return {
        "i-he-step": 100 * figure(report, "cr", "once"),
        "i-he-cr-nm": 100 * figure(report, "cr", "no_message"),
        "i-he-cr-ft": 100 * figure(report, "cr", "full_text"),
        "i-he-si-latent": 100 * figure(report, "si", "latent"),
        "i-he-si-sb": 100 * figure(report, "si", "state_bridge"),
    }


@cache
def of_directions():
    report = report_of([*mixed(430, {"full_text": (0, 0)}, "all"), *mixed(28, {"full_text": (0, 0)}, "he")])
    return {
        "i-directions": figure(report, "n_events", "full_text", "all"),
        "i-directions-he": figure(report, "n_events", "full_text", "he"),
    }


@cache
def of_the_larger_model():
    sets = {
        "medqa": (46, {"answer_only": (50, 50), "state_bridge": (60, 58)}, 300),
        "gpqa": (54, {"answer_only": (60, 60), "state_bridge": (50, 65)}, 198),
    }
    records = [{"record": "set", "id": name, "n_evaluated": n} for name, (_, _, n) in sets.items()]
    for name, (n, found, _) in sets.items():
        records += mixed(n, found, name, both_correct=False)
    report = report_of(records)
    figures = {}
    for name in sets:
        figures[f"i-total-{name}"] = figure(report, "directions", "answer_only", name)
        figures[f"i-unobs-{name}"] = figure(report, "directions_unobserved", "answer_only", name)
        figures[f"i-mixed-{name}-8b"] = figure(report, "n_preservation", "answer_only", name)
        figures[f"i-8b-{name}-diff"] = 100 * apart(report, "si", "state_bridge - answer_only", name)
    return figures


@cache
def of_truncation():
    records = mixed(57, {"no_message": (50, 90), "full_text": (80, 60)})
    for one in records:  # seven mixed questions were cut off at first; six events of others at a limit
        number = int(one["question"][1:])
        if one["record"] == "initial" and number < 7:
            one["terminated"] = True
    for i in range(2):
        records += [initial(f"w{i}", agent, "x", False, terminated=True) for agent in "ABC"]
    whole = report_of(records)
    records = mixed(57, {"no_message": (50, 90), "full_text": (80, 60)})
    cut = {("q20", "A"), ("q21", "A"), ("q22", "A"), ("q20", "B"), ("q21", "B"), ("q22", "B")}
    for one in records:
        if one["record"] == "revision" and one["channel"] == "full_text" and (one["question"], one["receiver"]) in cut:
            one["terminated"] = one["sender"] in ("A", "B")  # of two senders to A, one; of B's, the one that is wrong
    masked = report_of(records)
    by_question = {"sensitivity": "without questions whose first answers were cut off"}
    by_event = {"sensitivity": "without events cut off in any channel"}
    after = figure(masked, "n_correction_after", "no_message", **by_event)
    assert figure(masked, "n_preservation_after", "no_message", **by_event) == after
    assert figure(masked, "n_correction_before", "no_message", **by_event) == 114
    return {
        "i-trunc-gpqa": figure(whole, "n_correction_after", "full_text", **by_question),
        "i-mask-gpqa": after,
    }


@cache
def of_worked_accuracy():
    weights, rates = (ROWS["i-worked-acc"]["inputs"][name] for name in ("w", "r"))
    counts = dict(zip(("correction", "preservation", "both_wrong", "both_correct"), weights, strict=True))
    right = dict(zip(counts, (round(w * r) for w, r in zip(weights, rates, strict=True)), strict=True))
    records = mixed(20, {})
    records += [initial(f"w{i}", agent, "x", False) for i in range(5) for agent in "ABC"]
    events = {name: [(f"q{i}", *pair) for i in range(20) for pair in pairs] for name, pairs in STRATA.items()}
    events["both_wrong"] = [(f"w{i}", a, b) for i in range(5) for a in "ABC" for b in "ABC" if a != b]
    for name, n in counts.items():
        for place, (question, sender, receiver) in enumerate(events[name][:n]):
            yes = place < right[name]
            records.append(revision(question, sender, receiver, "y" if yes else "z", yes))
    report = report_of(records)
    weighted = figure(report, "accuracy_from_rates", "no_message")
    assert weighted == pytest.approx(figure(report, "accuracy", "no_message"))
    return {"i-worked-acc": weighted}


@cache
def random_delivery_report():
    return report_of(mixed(25, {"no_message": (15, 45), "full_text": (40, 21), "answer_only": (25, 33)}))


@cache
def of_random_delivery():
    report = random_delivery_report()
    return {"i-worked-randomdelivery": value(report, "over_random", set="s", policy=CRITICAL)}


SOURCES = (
    of_selectivity, of_gaps_between_channels, of_programs, of_directions, of_the_larger_model, of_truncation,
    of_worked_accuracy, of_random_delivery,
)  # fmt: skip


def reproduced_here():
    return {name: one for source in SOURCES for name, one in source().items()}


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.__name__)
def test_printed_figures_are_read_out_of_the_report(source):
    figures = source()
    wrong = {name: (figures[name], ROWS[name]["expected"]) for name in figures if not reproduced(figures, name)}
    assert not wrong
    assert figures


def test_selectivity_is_the_mean_of_both_rates_and_not_their_sum_minus_one():
    wrong = ROWS["i-si-not-youden"]["expected"] / 100
    printed = [row.figure.value for table in medqa().tables for row in table.rows if row.metric == "si"]
    assert all(abs(one - wrong) > 0.005 for one in printed)


def test_gains_and_losses_are_counted_over_all_strata_of_paired_events():
    report = medqa()
    assert figure(report, "net", "full_text") == 11
    assert figure(report, "net", "state_bridge") == 15
    row = report.row("net", set="s", policy=CRITICAL, channel="full_text")
    assert row.figure.n_items == 58 * 6
    gained, lost = (figure(report, name, "full_text") for name in ("gains", "losses"))
    assert gained - lost == 11
    assert (gained, lost) == (93 - 30, 101 - 49)


def test_the_mixture_is_half_full_texts_where_preservation_lies_half_way():
    report = random_delivery_report()
    assert value(report, "mixture", set="s", policy=CRITICAL) == pytest.approx(0.5)
    assert value(report, "reference_cr", set="s", policy=CRITICAL) == pytest.approx(0.55)


def test_no_mixture_outside_of_what_both_channels_span():
    report = report_of(mixed(25, {"no_message": (15, 45), "full_text": (40, 21), "answer_only": (25, 48)}))
    assert report.row("over_random", set="s", policy=CRITICAL).figure.reason == "no_mixture"
    report = report_of(mixed(25, {"no_message": (15, 30), "full_text": (40, 30), "answer_only": (25, 30)}))
    assert report.row("mixture", set="s", policy=CRITICAL).figure.reason == "no_mixture"


def test_increments_and_interactions_are_differences_of_selectivity():
    other = "structured_verification"
    records = mixed(10, {"no_message": (4, 16), "full_text": (16, 8), "answer_only": (10, 12)})
    second = mixed(10, {"no_message": (6, 18), "full_text": (16, 16), "answer_only": (12, 16)}, policy=other)
    records += [one for one in second if one["record"] == "revision"]
    report = report_of(records)
    # full text: critical (16 + 8 - 4 - 16) / 40 = 0.1, structured (16 + 16 - 6 - 18) / 40 = 0.2
    assert figure(report, "g", "full_text") == pytest.approx(0.1)
    assert figure(report, "g", "full_text", policy=other) == pytest.approx(0.2)
    assert figure(report, "g_policy", "full_text", policy=other) == pytest.approx(0.1)
    # full text minus answer only: critical (24 - 22) / 40, structured (32 - 28) / 40
    by = {"set": "s", "policy": other, "channels": "full_text - answer_only"}
    assert value(report, "interaction", **by) == pytest.approx(0.1 - 0.05)
    shown = report.row("interaction", **by)
    assert shown.figure.n_clusters == 10


def test_a_receiver_equal_to_the_sender_is_prior_and_an_unread_first_answer_matches_nothing():
    assert identity(None, "a", "b") == "invalid"
    assert identity("a", "a", "a") == "prior"
    assert identity("b", "a", "b") == "sender"
    assert identity("c", "a", None) == "third"
    assert identity("c", None, None) == "third"
    assert identity(" a ", "a", "b") == "prior"


def test_strata_come_from_who_was_right_first():
    assert stratum(receiver_right=False, sender_right=True) == "correction"
    assert stratum(receiver_right=True, sender_right=False) == "preservation"
    assert stratum(receiver_right=False, sender_right=False) == "both_wrong"
    assert stratum(receiver_right=True, sender_right=True) == "both_correct"


def test_a_mixed_question_gives_two_events_of_each_mixed_stratum():
    report = report_of(mixed(1, {"full_text": (2, 2)}))
    for name, n in (("correction", 2), ("preservation", 2), ("both_correct", 2), ("both_wrong", 0)):
        assert figure(report, f"n_{name}", "full_text") == n
    row = report.row("bwr", set="s", policy=CRITICAL, channel="full_text")
    assert (row.figure.value, row.figure.reason) == (None, "empty")


def test_selectivity_needs_both_strata():
    records = [initial("q", "A", "x", False), initial("q", "B", "y", True), revision("q", "B", "A", "y", True)]
    report = report_of(records)
    assert figure(report, "cr", "no_message") == 1.0
    assert figure(report, "si", "no_message") is None


def test_all_events_of_a_question_are_drawn_together():
    row = medqa().row("si", set="s", policy=CRITICAL, channel="full_text")
    assert row.figure.n_clusters == 58
    assert row.figure.interval.n_resamples == 100


def test_the_whole_set_is_observed_and_unobserved_directions_under_a_named_assumption():
    records = [{"record": "set", "id": "s", "n_evaluated": 10}, *mixed(4, {"full_text": (8, 6)})]
    records += [initial(f"r{i}", agent, "y", True) for i in range(2) for agent in "ABC"]
    for i in range(2):
        records += [revision(f"r{i}", "A", "B", "y", True, "full_text")]
        records += [revision(f"r{i}", "B", "A", "y" if i else "n", bool(i), "full_text")]
    report = report_of(records)
    assert figure(report, "directions", "full_text") == 60
    observed, other = (figure(report, f"directions_{one}", "full_text") for one in ("observed", "unobserved"))
    assert (observed, observed + other) == (24, 60)
    # 8 + 6 + 8 right of 24 retained, and 3 of 4 of the other 36
    assert figure(report, "whole_set_as_observed", "full_text") == pytest.approx((22 + 0.75 * 36) / 60)
    # 8 + 6 mixed, 8 directions of two right agents, and all 36 of the questions without a wrong agent
    assert figure(report, "whole_set_as_before", "full_text") == pytest.approx((14 + 8 + 36) / 60)
    del records[0]
    assert all(table.name != "whole_set" for table in report_of(records).tables)


def test_without_observed_all_right_directions_the_first_estimate_has_a_reason():
    records = [{"record": "set", "id": "s", "n_evaluated": 10}, *mixed(4, {"full_text": (8, 6)})]
    row = report_of(records).row("whole_set_as_observed", set="s", policy=CRITICAL, channel="full_text")
    assert row.figure.reason == "not_observed"


def test_settings_are_echoed_and_rates_take_their_own_number_of_resamples():
    report = METHOD.of(records_of(mixed(6, {"no_message": (4, 8), "full_text": (9, 5)}), SCHEMA))
    assert report.settings["n_resamples_rates"] == 2_000
    assert report.row("cr", set="s", policy=CRITICAL, channel="full_text").figure.interval.n_clusters == 6
    row = report.row("cr_difference", set="s", policy=CRITICAL, channels="full_text - no_message")
    assert row.figure.interval is not None


@pytest.mark.parametrize(
    ("record", "field"),
    [
        (initial("q", "A", None, True), "answer"),
        (initial("q0", "A", "x", False), "agent"),
        (revision("q0", "A", "A", "y", True), "sender"),
        (revision("q0", "B", "A", None, True), "answer"),
        ({"record": "set", "id": "s", "n_evaluated": 0}, "n_evaluated"),
        (revision("q0", "B", "A", "y", "yes"), "correct"),
    ],
)
def test_a_record_against_the_contract_is_refused_with_its_place(record, field):
    before = mixed(1, {})
    with pytest.raises(RecordsRefused) as refused:
        records_of([*before, record], SCHEMA)
    assert refused.value.problems[0].field == field
    assert refused.value.problems[0].line == len(before) + 1


def test_a_revision_of_an_agent_without_an_answer_of_its_own_is_refused():
    with pytest.raises(RecordsRefused) as refused:
        report_of([initial("q", "A", "x", False), revision("q", "B", "A", "y", True)])
    assert refused.value.problems[0].field == "sender"


def test_the_example_file_fills_every_table():
    lines = (REFERENCE / "records-revision.jsonl").read_text(encoding="utf-8").splitlines()
    report = METHOD.of(records_of(map(json.loads, lines), SCHEMA))
    assert {one.name for one in report.tables} == {
        "rates", "identity", "directions", "sensitivity", "whole_set", "usage", "gains", "increments", "contrasts",
        "random_delivery",
    }  # fmt: skip
    assert any("ynthetic" in str(note) for note in report.notes)
    json.dumps(report.as_dict(), allow_nan=False)
    assert report.as_dict() == METHOD.of(records_of(map(json.loads, lines), SCHEMA)).as_dict()


def test_the_order_of_records_changes_no_figure():
    one, other = in_another_order(METHOD, "records-revision.jsonl")
    assert one == other


def test_the_interval_of_a_difference_is_that_of_drawing_whole_questions():
    """Six questions: all 6^6 resamples, their events copied."""
    report = report_of(mixed(6, {"no_message": (4, 9), "full_text": (9, 5)}))
    interval = report.row("si_difference", set="s", policy=CRITICAL, channels="full_text - no_message").figure.interval
    right = {"no_message": (4, 9), "full_text": (9, 5)}

    def of_question(channel, i):
        return [sum(2 * i + j < n for j in range(2)) for n in right[channel]]

    parts = np.array([[of_question(channel, i) for channel in right] for i in range(6)])
    drawn = np.array(list(product(range(6), repeat=6)))
    rates = parts[drawn].sum(axis=1) / 12
    apart_ = rates[:, 1].mean(axis=1) - rates[:, 0].mean(axis=1)
    assert (interval.low, interval.high) == pytest.approx(tuple(np.quantile(apart_, [0.025, 0.975])), abs=1e-12)


def letter(text):
    """The last option in brackets, as the study asks for; None where there is none."""
    found = re.findall(r"\(([A-E])\)", text)
    return found[-1] if found else None


@pytest.mark.shared
def test_a_recorded_debate_of_three_agents_comes_out_as_counted_apart(shared_data):
    """Every receiver saw both others at once; each of them stands as a sender here."""
    path = shared_data / "revision-peer-review-hitsz/result/Penguins/Penguins_debate_146_1113.json"
    questions = json.loads(path.read_text(encoding="utf-8"))
    records, tally = [], {"correction": [0, 0], "preservation": [0, 0]}
    for number, question in enumerate(questions):
        answers = [[letter(turns[1]["content"]), letter(turns[3]["content"])] for turns in question["agent_contexts"]]
        right = [[one == question["answer"] for one in pair] for pair in answers]
        for agent, (first, _) in enumerate(answers):
            records.append(initial(f"q{number}", f"a{agent}", first, right[agent][0]))
            for sender in range(3):
                if sender != agent:
                    records.append(
                        revision(f"q{number}", f"a{sender}", f"a{agent}", answers[agent][1], right[agent][1], "debate")
                    )
                    if right[sender][0] != right[agent][0]:
                        cell = tally["preservation" if right[agent][0] else "correction"]
                        cell[0] += right[agent][1]
                        cell[1] += 1
    report = report_of(records)
    for metric, name in (("cr", "correction"), ("pr", "preservation")):
        row = report.row(metric, set="s", policy=CRITICAL, channel="debate")
        assert [row.k, row.n] == tally[name]
        assert row.figure.interval.low < row.figure.value < row.figure.interval.high
    assert len(questions) == 146
    assert tally["correction"][1] == tally["preservation"][1] > 0
