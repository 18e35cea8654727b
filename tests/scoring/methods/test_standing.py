"""Whether the reader may stand in for people, over records with the counts that a study prints."""

import pytest

from scoring.methods.records import records_of
from scoring.methods.tables import methods
from tests.scoring.methods.replies_counts import annotation, collaboration, judgment, labelled_300, reply

METHOD = methods()["replies"]
TIES = {"ties": "ties fail"}


def report_of(records, **given):
    return METHOD.of(records_of(records, METHOD.schema), {"n_resamples": 100, **given})


@pytest.fixture(scope="module")
def report():
    return report_of(labelled_300())


def value(report, metric, **by):
    return report.row(metric, **by).figure.value


def test_the_reader_is_held_against_the_same_others_as_each_annotator(report):
    """eli passes all of the 191 that the four others fail, and all others too, so has one category; the reader in eli's
    place meets the majority as it meets that of all."""
    reader = value(report, "range_kappa", annotator="eli", rater="reader")
    assert reader == pytest.approx(value(report, "reader_kappa", **TIES))
    assert value(report, "range_kappa", annotator="ben", rater="annotator") == 1
    assert value(report, "range_highest") == 1
    assert value(report, "range_lowest") <= value(report, "range_reader") <= value(report, "range_highest")


def test_each_annotator_is_tested_and_the_share_of_the_beaten_is_the_winning_rate(report):
    beaten = [value(report, "beaten", annotator=name) for name in ("ana", "ben", "cai", "dee", "eli")]
    row = report.row("winning_rate")
    assert (row.k, row.n, row.figure.value) == (sum(beaten), 5, sum(beaten) / 5)
    assert value(report, "alternative_passes") == float(sum(beaten) / 5 >= 0.5)


def test_a_higher_price_of_a_person_never_makes_the_reader_lose():
    rates = [value(report_of(labelled_300(), epsilon=epsilon), "winning_rate") for epsilon in (0.0, 0.2, 1.0)]
    assert rates == sorted(rates)
    assert rates[-1] == 1


def test_where_all_are_labelled_the_rate_is_that_of_the_labels(report):
    assert value(report, "people_rate", **TIES) == pytest.approx(191 / 300)
    assert value(report, "verdict_rate", **TIES) == pytest.approx(205 / 300)
    assert value(report, "powered_rate", **TIES) == pytest.approx(191 / 300)
    assert "human_only" in report.row("powered_rate", **TIES).figure.flags


def test_verdicts_of_unlabelled_replies_narrow_the_interval():
    """Collaborations fail as a whole, so verdicts tell much of the labels; three times as many are judged only."""
    records = [
        {**one, "collaboration": f"c{int(one['id'][1:]) // 15}"} if one["record"] == "reply" else one
        for one in labelled_300()
    ]
    more = [collaboration(f"m{n}") for n in range(60)]
    more += [reply(f"m{n}", f"m{n // 15}") for n in range(900)]
    more += [judgment(f"m{n}", int(n % 300 < 205)) for n in range(900)]
    combined = report_of([*records, *more]).row("powered_rate", **TIES).figure.interval
    alone = report_of(records).row("people_rate", **TIES).figure.interval
    assert combined.high - combined.low < alone.high - alone.low


def test_replies_picked_by_their_score_have_no_rate_of_all():
    assert report_of(labelled_300(), picked="score").row("powered_rate", **TIES).figure.reason == "not_random"


def test_one_annotator_cannot_be_set_against_others():
    records = [collaboration("c"), reply("r", "c"), judgment("r"), annotation("r", "ana")]
    report = report_of(records)
    assert report.row("winning_rate").figure.reason == "one_rater"
    assert report.row("range_kappa", annotator="ana", rater="reader").figure.value is None
    assert report.row("range_below").figure.value == 0


def test_without_labels_or_without_verdicts_there_is_no_such_table():
    labelled = [collaboration("c"), reply("r", "c"), annotation("r", "ana")]
    judged = [collaboration("c"), reply("r", "c"), judgment("r")]
    for records in (labelled, judged):
        with pytest.raises(KeyError):
            report_of(records).table("alternative")


def test_replies_of_one_cluster_are_drawn_together():
    homes = [collaboration(f"c{n}", cluster=f"task-{n % 2}") for n in range(4)]
    replies = [reply(f"r{n}", f"c{n}") for n in range(4)]
    report = report_of([*homes, *replies, *(judgment(f"r{n}", n % 2) for n in range(4))])
    assert report.row("failure_rate", "reader").figure.n_clusters == 2
    assert value(report, "n_collaborations") == 4
