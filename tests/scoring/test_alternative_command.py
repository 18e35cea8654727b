"""`manage.py agreement --metric alternative_annotator`: the published rows, from the files beside them."""

import csv
import io
import json

import pytest
from django.core.management import call_command

from tests.scoring.stats.tables import shared

SETS = {"wax": 6, "mtbench": 6, "cebab_aspects": 6, "summeval": 6, "10k_prompts": 6, "cebab_stars": 6}


def said(*words, **options):
    out = io.StringIO()
    call_command("agreement", *words, stdout=out, **options)
    return out.getvalue()


@pytest.mark.shared
@pytest.mark.parametrize("name", SETS)
def test_the_published_rows_come_out_of_a_spreadsheet(name, tmp_path):
    folder = shared("data", "judge-alt-test")
    people = json.loads((folder / name / "human_annotations.json").read_text(encoding="utf-8"))
    judges = json.loads((folder / name / "llm_annotations.json").read_text(encoding="utf-8"))
    published = json.loads((folder / "published.json").read_text(encoding="utf-8"))
    rows = [row for row in published["rows"] if row["dataset"] == name]
    assert len(rows) == SETS[name]
    for row in rows:
        path = tmp_path / f"{row['judge']}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(["item", "rater", "label"])
            for rater, labels in {**people, row["judge"]: judges[row["judge"]]}.items():
                table.writerows([item, rater, label] for item, label in labels.items())

        words = ["--csv", str(path), "--metric", "alternative_annotator", "--judge", row["judge"]]
        found = json.loads(said(*words, "--epsilon", str(row["epsilon"]), "--param", "n_resamples=100", "--json"))

        figure = found["figure"]
        assert figure["details"]["scoring"] == {"accuracy": "nominal", "neg_rmse": "numeric"}[row["scoring"]]
        assert len(figure["details"]["annotators"]) == row["n_annotators"]
        assert figure["value"] == pytest.approx(row["winning_rate"], rel=1e-9)  # JSON has ten digits
        assert figure["details"]["advantage"]["value"] == pytest.approx(row["advantage"], rel=1e-9)
