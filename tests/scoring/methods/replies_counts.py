"""Synthetic records with the counts that a published study prints, so that its figures can be read out of a report.
Texts are dealt over collaborations in turn; which of them fail together is made up."""

from itertools import count

PEOPLE = ("ana", "ben", "cai", "dee", "eli")
MODELS = ("sol", "opus", "m3", "m4", "m5", "m6", "m7", "m8")
PROJECTS = ("w", "x", "y", "z")


def collaboration(name, **values):
    return {"record": "collaboration", "id": name, **values}


def reply(name, home, **values):
    return {"record": "reply", "id": name, "collaboration": home, **values}


def written(name, home, point, condition, **values):
    names = {"id": name, "collaboration": home, "point": point, "condition": condition}
    return {"record": "written", **names, **values}


def judgment(target, n_gaps=0, *, no_answer=False, language=False, **values):
    verdict = {"n_gaps": n_gaps, "fail_answer": no_answer, "fail_language": language}
    return {"record": "judgment", "target": target, "status": "ok", **verdict, **values}


def annotation(target, who, label="readable", **values):
    return {"record": "annotation", "target": target, "annotator": who, "label": label, **values}


def read_480():
    """480 replies of 8 models in 4 projects: 258 fail, 222 with a gap; who has which category and reason is dealt so
    that every printed count holds at once."""
    homes = [(model, project) for model in MODELS for project in PROJECTS]
    records = [collaboration(f"{m}-{p}", model=m, project=p, language="en") for m, p in homes]
    slots = {model: [f"{model}-{p}/{n}" for n in range(15) for p in PROJECTS] for model in MODELS}
    n_failed = dict(zip(MODELS, (18, 49, 32, 32, 32, 32, 32, 31), strict=True))
    failed = {model: slots[model][: n_failed[model]] for model in MODELS}
    others = [name for model in MODELS[2:] for name in failed[model]]
    with_gap = {"sol": failed["sol"][:14], "opus": failed["opus"], "others": others[:159]}
    categories = kinds_of_gaps(with_gap)
    sizes = sizes_of_gaps(categories)
    no_answer = {*failed["sol"][14:], *others[159:], *failed["sol"][:3], *others[:34]}
    language = set(others[34:51])
    all_failed = [name for names in failed.values() for name in names]
    passed = [name for model in MODELS for name in slots[model][n_failed[model] :]]
    turns = dict(zip(all_failed, [0] * 58 + [1] * 35 + [2] * 35 + [3] * 100 + [7] * 30, strict=True))
    turns |= dict(zip(passed, [0] * 62 + [2] * 104 + [4] * 56, strict=True))
    early = set(list(categories)[:128])
    origins = iter(["agent_file"] * 48 + ["tool_args"] * 11 + ["project_memory"] * 46 + ["tool_output"] * 93)
    numbers = count()
    for model in MODELS:
        for name in slots[model]:
            home = name.split("/")[0]
            records.append(reply(name, home, n_tool_turns=turns[name], n_chars=900))
            gaps = [category for category, n in sizes.get(name, {}).items() for _ in range(n)]
            records.append(judgment(name, len(gaps), no_answer=name in no_answer, language=name in language))
            start = 10 if name in early else 600
            for category in gaps:
                gap = {"record": "gap", "id": f"g{next(numbers)}", "target": name, "category": category}
                origin = {"origin": next(origins)} if category == "coined" else {}
                records.append({**gap, "start": start, "end": start + 5, **origin})
    return records


def kinds_of_gaps(with_gap):
    """The categories of each text with a gap: 119 pointer, 109 coined, 61 term, 4 background."""
    sol, opus, others = with_gap["sol"], with_gap["opus"], with_gap["others"]
    found = {name: ["term"] if place < 8 else ["pointer"] for place, name in enumerate(sol)}
    for place, name in enumerate(opus):
        found[name] = ["pointer", "coined"] if place < 13 else ["pointer"] if place < 30 else ["coined"]
    second = ["coined", *["term"] * 53, *["background"] * 4]
    for place, name in enumerate(others):
        found[name] = ["pointer" if place < 83 else "coined", *second[place : place + 1]]
    return found


def sizes_of_gaps(categories):
    """Gaps of each text by category: 108 texts with 1 gap, 49 with 2, 65 with more; 475 in all, 198 of them coined."""
    two = [name for name, kinds in categories.items() if len(kinds) == 2]
    coined = [name for name, kinds in categories.items() if kinds == ["coined"]]
    pointer = [name for name, kinds in categories.items() if kinds == ["pointer"]]
    total = dict.fromkeys(categories, 1)
    total |= dict(zip(coined, [4] * 29 + [2] * 2, strict=False))
    rest = [2] * 47 + [4] * 27 + [5] * 9
    total |= dict(zip([*two, *pointer[:12]], rest, strict=True))
    found = {}
    for name, kinds in categories.items():
        ordered = sorted(kinds, key=lambda kind: kind == "coined")
        found[name] = dict.fromkeys(ordered, 1)
        found[name][ordered[0]] += total[name] - len(kinds)
    return found


def labelled_300():
    """300 replies that five people labelled: the majority fails 191 (76 of them unrepairable), the reader 205."""
    records = [collaboration(f"c{n}") for n in range(20)]
    for n in range(300):
        name, is_gold, by_reader = f"r{n}", n < 191, n < 171 or 191 <= n < 225
        records.append(reply(name, f"c{n % 20}"))
        states_none = n < 150 and n % 15 == 7  # ten replies where reader and people differ on the answer
        records.append(judgment(name, 0 if n < 76 else 1, no_answer=n < 76) if by_reader else judgment(name))
        for place, who in enumerate(PEOPLE):
            fails = place < (4 if is_gold else 1)
            label = ("unrepairable_or_no_answer" if 0 <= n < 76 else "needs_information") if fails else "readable"
            ticks = fails and ((n < 76) != states_none)
            records.append(annotation(name, who, label, states_no_result=ticks))
    return records


ARMS_256 = {
    "default": (134, {"opus": 23, "sol": 8}, 187, 174),
    "requirements": (109, {"opus": 17, "sol": 6}, 136, 138),
    "separate_requirements": (108, {"opus": 16, "sol": 6}, 0, 0),
    "rewrite": (91, {"opus": 15, "sol": 4}, 138, 151),
}
"""Of each condition the points that fail, of which models, and the errors and omissions the checker counts."""


def written_256():
    """256 points, 32 of each model, eight in each collaboration."""
    records = [collaboration(f"{m}-{p}", model=m) for m in MODELS for p in PROJECTS]
    for arm, (n_fail, known, n_errors, n_omissions) in ARMS_256.items():
        left = {model: known.get(model) for model in MODELS}
        rest, unknown = n_fail - sum(known.values()), [model for model in MODELS if model not in known]
        for place, model in enumerate(unknown):
            left[model] = rest // len(unknown) + (place < rest % len(unknown))
        numbers = count()
        for model in MODELS:
            for n in range(32):
                home, point, number = f"{model}-{PROJECTS[n % 4]}", f"{model}/{n}", next(numbers)
                name = f"{point}/{arm}"
                records += [written(name, home, point, arm), judgment(name, int(n < left[model]))]
                if n_errors:
                    counts = {"n_errors": int(number < n_errors), "n_omissions": int(number < n_omissions)}
                    records.append({"record": "check", "target": name, "status": "ok", **counts})
    return records


def compared_83():
    """83 points in ten collaborations, read blind: three of five see one version, two the other, in turn. Majority
    and reader fail 59 texts together, the majority alone 19, the reader alone 14."""
    records = [collaboration(f"c{n}") for n in range(10)]
    cells = {"default": (36, 11, 6), "rewrite": (23, 8, 8)}  # both fail, only people, only the reader
    for arm, (both, people, reader) in cells.items():
        for n in range(83):
            name = f"p{n}/{arm}"
            by_reader = n < both or both + people <= n < both + people + reader
            records += [written(name, f"c{n % 10}", f"p{n}", arm), judgment(name, int(by_reader))]
            label = "needs_information" if n < both + people else "readable"
            readers = [who for slot, who in enumerate(PEOPLE) if ((slot + n) % 2 == 0) == (arm == "default")]
            records += [annotation(name, who, label) for who in readers]
    return records


def sampled(n, usable):
    """Points with n samples each, of which so many are usable: both independent judgments accept them."""
    records = [collaboration("c")]
    for point, c in enumerate(usable):
        for sample in range(1, n + 1):
            name = f"p{point}/{sample}"
            records.append(written(name, "c", f"p{point}", "default", sample_index=sample))
            records += [judgment(name, int(sample > c), judgment_index=index) for index in (1, 2)]
    return records
