from annotate.rules.web_annotation import web_annotation

SPAN = {"start": 4, "end": 7, "type": "definition", "quote": "GTR"}


def test_a_span_has_its_place_and_its_words():
    made = web_annotation(SPAN, item_hash="a" * 64, content_hash="b" * 64, place=0, annotator="a1")
    assert made["@context"] == "http://www.w3.org/ns/anno.jsonld"
    assert made["type"] == "Annotation"
    assert made["target"]["selector"] == [
        {"type": "TextPositionSelector", "start": 4, "end": 7},
        {"type": "TextQuoteSelector", "exact": "GTR"},
    ]
    assert made["body"]["value"] == "definition"
    assert made["creator"] == {"type": "Person", "nickname": "a1"}


def test_the_label_of_the_release_has_no_creator_and_an_id_of_its_own():
    own, label = (
        web_annotation(SPAN, item_hash="a" * 64, content_hash="b" * 64, place=0, annotator=who) for who in ("a1", None)
    )
    assert "creator" not in label
    assert own["id"] != label["id"]
