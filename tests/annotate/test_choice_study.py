"""A team's own question from a table of texts to a release, without a browser."""

import html
import json

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from annotate import blind, importing, releasing, setting_up
from annotate.kinds.choice.kind import KIND
from annotate.models import Annotation, Assignment, Item, Membership, Protocol, Role
from scoring import comparing
from scoring.comparing import agreement_report
from tests.annotate.api.asking import Script, codes
from tests.annotate.choice_study import N_TEXTS, QUESTION, import_texts, label_all, make_study, post_of, text_of
from tests.annotate.releases import bytes_of, export, lines_of, seal
from tests.annotate.test_import_to_label import NO_REPLIES, READ, RUNS, private_texts

pytestmark = pytest.mark.django_db


def first(number):
    tone = ("calm", "terse", "angry")[number % 3]
    fields = {"one.tone": tone, "scale.clarity": str(1 + number % 5)}
    fields |= {"several.faults.long": "on"} if number % 2 else {}
    return fields, [(12, 15, "term")] if number % 4 == 0 else []


def second(number):
    """As the first, but one text in five is a step apart, in the tone and on the scale."""
    fields, spans = first(number)
    if number % 5 == 0:
        fields = fields | {"one.tone": "terse", "scale.clarity": "2"}
    return fields, spans


def third(number):
    fields, _ = first(number)
    return fields | {"note.more": f"note {number}"}, []


@pytest.fixture
def study(client, tmp_path, monkeypatch):
    monkeypatch.setattr(comparing, "N_RESAMPLES", 50)
    project = make_study()
    report = import_texts(project, tmp_path)
    assert (report.is_refused, report.n_items) == (False, N_TEXTS)
    for member, answer in zip(annotators(project), (first, second, third), strict=True):
        label_all(client, member, answer)
    return project


def annotators(project):
    return list(project.memberships.filter(role=Role.ANNOTATOR).order_by("code"))


def lead_of(project):
    return project.memberships.get(role=Role.LEAD).person


def words(response):
    return html.unescape(response.content.decode())


def test_twenty_texts_of_a_table_are_labelled_by_three(study):
    assert Annotation.objects.count() == 3 * N_TEXTS
    said = Annotation.objects.get(assignment__annotator__code="a1", assignment__item__trace__source_id="t04").label
    assert said == {
        "answers": {"tone": "terse", "faults": [], "clarity": 5},
        "notes": {},
        "spans": [{"start": 12, "end": 15, "type": "term", "quote": text_of(4)[12:15]}],
    }


def test_a_dash_that_nobody_asked_is_on_no_page(client, tmp_path):
    project = make_study(schema={**QUESTION, "judged": "replies"}, names=("ana",))
    import_texts(project, tmp_path)
    item = blind.preview_item(project.pk, Item.objects.first().pk)
    assert (item.messages, item.files) == ((), ())
    (ana,) = annotators(project)
    client.force_login(ana.person)
    page = words(client.get(reverse("annotate:next_item", args=["tone"]), follow=True))
    assert 'class="seen"' not in page
    assert "The text" in page


def test_figures_are_those_of_each_part_at_its_level(client, study):
    report = agreement_report(study)
    levels = {one.measure.name: one.measure.level for one in report.measures}
    assert levels == {
        **{"tone": "ordinal", "faults.long": "nominal", "faults.vague": "nominal", "clarity": "interval"},
        **{"gaps.term": "nominal", "gaps.ref": "nominal"},
    }
    assert {one.panel.n_items for one in report.measures if hasattr(one.panel, "n_items")} <= {N_TEXTS}
    client.force_login(lead_of(study))
    page = words(client.get(reverse("scoring:show_agreement", args=["tone"])))
    for title in ("Tone", "Faults: too long", "Clarity", "Gaps: reference", "calm"):
        assert title in page
    page = words(client.get(reverse("scoring:show_agreement", args=["tone"]), HTTP_ACCEPT_LANGUAGE="zh-hans"))
    assert "Gaps：术语" in page
    page = words(client.get(reverse("scoring:list_compared_items", args=["tone"]) + "?measure=tone"))
    assert "terse" in page
    for item in Item.objects.all()[:2]:
        page = words(client.get(reverse("scoring:show_item", args=["tone", item.pk])))
        assert "Clarity" in page


def test_the_command_says_the_same_figures(study, capsys):
    call_command("agreement", "tone", "--json")
    said = json.loads(capsys.readouterr().out)
    assert [one["measure"] for one in said["measures"]][:2] == ["tone", "faults.long"]
    call_command("agreement", "tone", "--measure", "clarity")
    assert "Clarity" in capsys.readouterr().out


def test_a_label_that_was_removed_is_read_in_old_answers_and_counted_under_its_own_protocol(client, study):
    lead, newest = lead_of(study), study.protocols.get()
    parts = [dict(one) for one in newest.label_schema["parts"]]
    parts[0]["labels"] = [{**parts[0]["labels"][0], "title": {"en": "serene", "zh": ""}}, parts[0]["labels"][2]]
    texts = {"guideline_en": newest.guideline_en, "guideline_zh": newest.guideline_zh}
    texts |= {"change_note": "less", "after": 1}
    setting_up.new_protocol(
        project=study, by=lead, now=timezone.now(), label_schema={**newest.label_schema, "parts": parts}, **texts
    )
    before = {row.pk: row.label for row in Annotation.objects.all()}
    assert agreement_report(study).measures[0].measure.categories == ("calm", "terse", "angry")
    ana = annotators(study)[0]
    row = Assignment.objects.get(annotator=ana, item__trace__source_id="t01")
    client.force_login(ana.person)
    page = words(client.get(reverse("annotate:label_item", args=[row.public_id])))
    assert "serene" not in page.split('id="own-label"')[1].split('id="keys"')[0]
    assert "terse" in page.split('id="own-label"')[1].split('id="keys"')[0]
    form = words(client.get(reverse("annotate:correct_item", args=[row.public_id])))
    assert "serene" in form
    assert 'value="terse"' not in form
    address = reverse("annotate:submit_annotation", args=[row.public_id])
    older = client.post(address, {**post_of(row, {"one.tone": "gone"}, protocol=1), "reason": "x"})
    assert (older.status_code, 'value="terse"' in words(older)) == (422, True)
    done = client.post(address, {**post_of(row, {"one.tone": "calm"}, protocol=2), "reason": "x", "key": "k" * 20})
    assert done.status_code == 302
    assert {pk: label for pk, label in before.items() if Annotation.objects.get(pk=pk).label != label} == {}
    client.force_login(lead)
    item = words(client.get(reverse("scoring:show_item", args=["tone", row.item_id])))
    assert "terse" in item
    assert "serene" in item
    page = words(client.get(reverse("annotate:show_protocols", args=["tone"])))
    assert "serene" in page
    assert client.get(reverse("scoring:show_agreement", args=["tone"]) + "?protocol=1").status_code == 200


def test_a_release_is_exported_and_brought_in_where_the_same_texts_are(study, tmp_path):
    release = seal(study, agreement=agreement_report(study).as_dict())
    folder = export(release, tmp_path / "gold")
    how = {line["how"] for line in lines_of(folder / "labels.jsonl")}
    assert how == {"consensus", "majority"}
    card = (folder / "datacard.zh.md").read_text("utf-8")
    assert "Gaps：术语" in card
    assert '"value"' not in (folder / "labels.csv").read_text("utf-8-sig")
    assert "tone,calm" in (folder / "labels.csv").read_text("utf-8-sig").replace('"', "")
    web = lines_of(folder / "annotations.w3c.jsonl")
    assert {one["body"]["value"] for one in web} == {"term"}
    other = make_study("other", names=("ana",))
    import_texts(other, tmp_path)
    brought = releasing.import_release(person=lead_of(other), project=other, folder=folder)
    assert brought.release.content_hash == release.content_hash
    again = export(brought.release, tmp_path / "again")
    assert bytes_of(again) == bytes_of(folder)


def test_a_known_answer_is_told_in_its_parts(client, tmp_path):
    project = make_study(names=("ana",))
    import_texts(project, tmp_path)
    Item.objects.update(phase="practice")
    lead, (ana,) = lead_of(project), annotators(project)
    client.force_login(lead)
    for item in Item.objects.all():
        post = {"protocol": "1", "one.tone": "calm", "spans": "[]", "reason_en": "so", "reason_zh": "就是"}
        done = client.post(reverse("annotate:answer_practice", args=["tone", item.pk]), post)
        assert done.status_code == 302
    client.force_login(ana.person)
    row = Assignment.objects.get(annotator=ana, state="open")
    address = reverse("annotate:submit_annotation", args=[row.public_id])
    page = words(client.post(address, post_of(row, {"one.tone": "angry", "several.faults.long": "on"}), follow=True))
    assert "The expected answer is another one." in page
    assert "Tone, Faults" in page


# The API


def test_an_annotator_s_script_is_told_what_a_label_may_say_and_answers(tmp_path):
    project = make_study(names=("ana",))
    import_texts(project, tmp_path)
    script = Script(annotators(project)[0])
    item = script.get("projects/tone/next/").json()["item"]
    assert item["label_schema"] == Protocol.objects.get().label_schema
    label = {"answers": {"tone": "calm", "faults": []}, "notes": {}, "spans": []}
    own = {"key": "k" * 20, "protocol": item["protocol"], "number": 0}
    address = f"items/{item['public_id']}/annotations/"
    wrong = script.post(address, {**own, "label": {**label, "answers": {"tone": "x"}}})
    assert codes(wrong) == {("tone", "unknown_label"), ("faults", "missing_field")}
    assert wrong.json()["problems"][0]["pointer"] == "/label/answers/tone"
    assert script.post(address, {**own, "label": label}).status_code == 201


def test_a_lead_s_script_opens_a_protocol_with_another_schema():
    project = make_study(names=())
    script = Script(Membership.objects.get())
    rows = script.get("projects/tone/protocols/").json()["rows"]
    assert rows[0]["label_schema"] == Protocol.objects.get().label_schema
    body = {"guideline_en": "Read.", "guideline_zh": "读。", "change_note": "shorter", "after": 1}
    wrong = script.post("projects/tone/protocols/", {**body, "label_schema": {"judged": "x", "parts": []}})
    assert codes(wrong) == {("judged", "wrong_value"), ("parts", "missing_field")}
    assert {one["pointer"] for one in wrong.json()["problems"]} == {"/label_schema/judged", "/label_schema/parts"}
    made = script.post("projects/tone/protocols/", {**body, "label_schema": {**QUESTION, "judged": "last"}})
    assert (made.status_code, made.json()["label_schema"]["judged"]) == (201, "last")
    assert project.protocols.count() == 2


def test_a_command_makes_a_project_of_a_schema_in_a_file(tmp_path, capsys):
    path = tmp_path / "question.json"
    path.write_text(json.dumps(QUESTION), "utf-8")
    call_command("create_project", "own", "--kind", "choice", "--schema", str(path), "--json")
    assert Protocol.objects.get().label_schema == KIND.check_schema(QUESTION, None)
    for text in ("{", "[]", '{"judged": "text", "parts": []}'):
        path.write_text(text, "utf-8")
        with pytest.raises(SystemExit):
            call_command("create_project", "two", "--kind", "choice", "--schema", str(path))
    with pytest.raises(SystemExit):
        call_command("create_project", "two", "--kind", "choice", "--schema", str(tmp_path / "none.json"))
    path.write_text(json.dumps(QUESTION), "utf-8")
    with pytest.raises(SystemExit):
        call_command("create_project", "two", "--schema", str(path))
    assert "cannot be changed" in capsys.readouterr().err
    assert Protocol.objects.count() == 1


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.stem)
@pytest.mark.parametrize("judged", ["replies", "last", "text"])
def test_a_file_of_every_format_can_be_asked_about(path, judged):
    project = make_study(names=("ana",), schema={**QUESTION, "judged": judged})
    report = importing.import_traces(project=project, path=path, file_name=path.name)
    assert not report.is_refused
    items = Item.objects.filter(project=project)
    assert items.count() == report.n_items > 0
    if judged != "replies":
        assert items.count() <= project.traces.count()
    for item in items[:3]:
        shown = blind.preview_item(project.pk, item.pk)
        assert shown.text
        assert not [text for text in private_texts(item) if len(text) > 12 and text in str(shown.messages)]
        assert judged != "text" or shown.messages == ()


@pytest.mark.parametrize("path", [path for path in READ if path.stem in NO_REPLIES], ids=lambda path: path.stem)
def test_a_format_without_replies_is_read_and_asks_nothing_but_of_its_texts(path):
    project = make_study(names=("ana",), schema={**QUESTION, "judged": "last"})
    report = importing.import_traces(project=project, path=path, file_name=path.name)
    assert (report.is_refused, report.n_new > 0, report.n_items) == (False, True, 0)
