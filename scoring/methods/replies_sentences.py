"""What a paper would say of a report on replies, sentence by sentence."""

from annotate.traces.base import gettext_noop
from scoring.methods.paragraphs import Each, One, Range, Sentence

SENTENCES = (
    Sentence(
        gettext_noop("The material is %(collaborations)s collaborations with %(replies)s replies."),
        {"collaborations": One("n_collaborations", "work"), "replies": One("n_replies", "work")},
    ),
    Sentence(
        gettext_noop(
            "An automated reader judged each reply from what the requester had seen: %(failed)s of the replies fail, "
            "and %(gaps)s have an information gap."
        ),
        {"failed": One("failure_rate", "reader"), "gaps": One("gap_rate", "reader")},
    ),
    Sentence(
        gettext_noop(
            "Of the failed replies %(pointer)s have a pointer to what the requester has not seen, %(coined)s a coined "
            "label, %(term)s a term of the field, and %(background)s a background that is missing; one reply may have "
            "several."
        ),
        {
            name: One(f"category_{name}", "categories")
            for name in ("pointer", "coined", "term", "background")
        },
    ),
    Sentence(
        gettext_noop(
            "%(private)s of the coined labels came up first in a file of the agent, in the project memory or in the "
            "arguments of a tool."
        ),
        {"private": One("origin_private", "origins")},
    ),
    Sentence(
        gettext_noop(
            "%(gaps)s gaps were put into categories by annotators too; the mean kappa of the classifier with them is "
            "%(kappa)s."
        ),
        {
            "gaps": One("n_labelled_gaps", "classifier"),
            "kappa": One("classifier_kappa_mean", "classifier", {"one": "classifier"}),
        },
    ),
    Sentence(
        gettext_noop(
            "%(annotators)s annotators gave %(annotations)s annotations, blind to one another and to the judges; of "
            "%(texts)s texts with a majority %(rate)s fail by it."
        ),
        {
            "annotators": One("n_annotators", "people_gold"),
            "annotations": One("n_annotations", "people_gold"),
            "texts": One("gold_total", "people_gold"),
            "rate": One("gold_failure_rate", "people_gold", {"ties": "ties fail"}),
        },
    ),
    Sentence(
        gettext_noop("On fail and pass, Fleiss' kappa of the annotators is %(fleiss)s."),
        {"fleiss": One("fleiss", "people_agreement")},
    ),
    Sentence(
        gettext_noop("The kappa of each annotator with the majority of the others goes from %(range)s (ties fail)."),
        {"range": Range("others_kappa", "people_others", {"ties": "ties fail"})},
    ),
    Sentence(
        gettext_noop(
            "The reader has kappa %(kappa)s with the majority, and says the same of %(equal)s of the texts (ties fail)."
        ),
        {
            "kappa": One("reader_kappa", "people_reader", {"ties": "ties fail"}),
            "equal": One("reader_accuracy", "people_reader", {"ties": "ties fail"}),
        },
    ),
    Sentence(
        gettext_noop("At %(points)s reply points, written anew under each condition, the reader fails: %(rates)s."),
        {
            "points": One("n_points", "conditions"),
            "rates": Each("point_failure_rate", "conditions", ("condition",)),
        },
    ),
    Sentence(
        gettext_noop("So many fewer fail than under the default, paired at the point: %(reductions)s."),
        {"reductions": Each("reduction", "differences", ("condition",), {"compared with": ("default",)})},
    ),
    Sentence(
        gettext_noop("At least one of k samples is usable: %(shares)s."),
        {"shares": Each("pass_at_k", "samples", ("condition", "k"), {"k": ("1", "4", "16")})},
    ),
    Sentence(
        gettext_noop(
            "In a blind comparison each annotator read one version of each of %(points)s reply points, default or "
            "rewrite, and was told of no other: %(annotations)s annotations of %(texts)s texts. The share of "
            "annotators who fail a text is smaller for the rewrite by %(contrast)s."
        ),
        {
            "points": One("n_points", "blind"),
            "annotations": One("n_annotations", "blind"),
            "texts": One("n_texts", "blind"),
            "contrast": One("contrast", "blind", {"condition": "rewrite", "compared with": "default"}),
        },
    ),
    Sentence(
        gettext_noop(
            "At %(flips)s points the reader fails the default and passes the rewrite; at %(agreed)s of them so does "
            "the majority."
        ),
        {"flips": One("flips", "blind"), "agreed": One("flips_agreed", "blind")},
    ),
    Sentence(
        gettext_noop("Against the record of the work a text has %(errors)s errors and %(omissions)s omissions."),
        {"errors": One("errors", "checker"), "omissions": One("omissions", "checker")},
    ),
)
