import pytest

from annotate.kinds.reply import view as reply_kind
from annotate.rules.requester_view import requester_view
from annotate.traces.base import Call, File, Message, Trace
from scoring.judges.base import SettingsError, no_settings, reply_view

TRACE = Trace(
    source_id="t",
    format="sightline",
    language="en",
    files=(File("levels.csv", "1,4.2\r\n2,4.0", 0), File("late.csv", "3,3.8", 9)),
    messages=(
        Message(0, "system", "Tools: fit_line."),
        Message(1, "user", "Is the well falling?", side="user"),
        Message(2, "assistant", "I will fit.", calls=(Call("c1", "fit_line", '{"run": "dropped_B7"}'),)),
        Message(3, "tool", "dropped_B7: slope -0.2", name="fit_line"),
        Message(4, "summary", "compacted_S1: it falls"),
        Message(5, "user", "How fast?\r\nIn metres.", side="user", calls=(Call("u1", "my_probe", '{"at": "W_3"}'),)),
        Message(6, "tool", "probe_9 says 4.0", side="user"),
        Message(7, "assistant", "Once more.", calls=(Call("c2", "fit_line", '{"run": "held_C1"}'),)),
        Message(8, "tool", "held_C1: done\r\nslope -0.2", name="line_fitter"),
        Message(9, "assistant", "By 0.2 m\r\na day."),
        Message(10, "user", "Thanks.", side="user"),
        Message(11, "tool", "later_D4", name="fit_line"),
    ),
)


def test_r_is_what_the_annotator_is_shown():
    view = reply_view(TRACE, 9)
    seen = requester_view(TRACE, 9)
    shown = reply_kind.dialog(seen.dialog, "en")
    assert view.dialog == tuple(block.text.replace("\r\n", "\n") for block in shown)
    assert "probe_9" in "\n".join(view.dialog)
    assert "W_3" in "\n".join(view.dialog)
    assert view.files == (("levels.csv", "1,4.2\n2,4.0"),)


def test_all_texts_are_canonical():
    view = reply_view(TRACE, 9)
    assert view.reply == "By 0.2 m\na day."
    assert view.request == "How fast?\nIn metres."
    assert "held_C1: done\nslope -0.2" in view.held


def test_private_texts_are_told_apart_by_whether_the_agent_still_held_them():
    view = reply_view(TRACE, 9)
    held, earlier = "\n".join(view.held), "\n".join(view.earlier)
    assert "held_C1" in held
    assert "compacted_S1" in held
    assert "line_fitter" in view.held  # the name of a tool is the agent's own
    assert "dropped_B7" in earlier
    assert "Tools: fit_line." in earlier
    assert "dropped_B7" not in held


def test_nothing_of_the_reply_of_later_or_of_the_requester_is_private():
    private = "\n".join((*reply_view(TRACE, 9).held, *reply_view(TRACE, 9).earlier))
    for text in ("later_D4", "By 0.2 m", "Is the well falling?", "probe_9", "my_probe"):
        assert text not in private


def test_text_beside_a_call_follows_the_setting_of_the_project_and_the_call_stays_private():
    hidden, visible = reply_view(TRACE, 9), reply_view(TRACE, 9, "visible")
    assert "Once more." in hidden.held
    assert "Once more." not in hidden.dialog
    assert "Once more." in visible.dialog
    assert "Once more." not in visible.held
    assert '{"run": "held_C1"}' in visible.held


def test_what_is_no_reply_has_no_view():
    with pytest.raises(ValueError, match="no reply"):
        reply_view(TRACE, 7)


def test_a_judge_without_settings_takes_none():
    assert no_settings({}) == {}
    with pytest.raises(SettingsError) as refused:
        no_settings({"mood": 1})
    problem = refused.value.problems[0]
    assert (problem.code, problem.field) == ("unknown_field", "mood")
    assert "mood" in str(refused.value)
