"""The lexical judge on the demo, really run, beside the majority of the demo's five people."""

from io import StringIO

import pytest
from django.conf import settings
from django.core.management import call_command
from django.utils import timezone

from annotate import demo
from annotate.models import Project
from scoring.reports import shown_report


@pytest.mark.django_db(transaction=True)
def test_the_demos_kappa_of_judge_and_majority_is_that_of_its_table(monkeypatch, tmp_path):
    monkeypatch.setattr(settings, "DATA_FOLDER", tmp_path)
    demo.load_demo(now=timezone.now())
    call_command("run_judge", "demo", "lexical", stdout=StringIO())
    report = shown_report(Project.objects.get(slug="demo"), measure="fail").report
    judge = report.measures[0].judge
    assert judge.confusion == ((11, 0), (6, 7))
    assert judge.accuracy.value == pytest.approx(18 / 24)
    chance = (11 * 17 + 13 * 7) / 24**2
    assert judge.kappa.value == pytest.approx((18 / 24 - chance) / (1 - chance))
    assert judge.kappa.interval.low < judge.kappa.value < judge.kappa.interval.high
    assert "few_clusters" in judge.kappa.flags
