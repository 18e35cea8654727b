"""A label as rows of a table: one for the reply and its spans together."""

from annotate.kinds.reply.label import ReplyLabel, dump

COLUMNS = ("label", "fails", "states_no_result", "n_spans", "spans", "comment")


def rows(label: ReplyLabel) -> list[dict[str, object]]:
    return [
        {
            "label": label.label,
            "fails": label.fails,
            "states_no_result": label.states_no_result,
            "n_spans": len(label.spans),
            "spans": dump(label)["spans"],
            "comment": label.comment,
        }
    ]
