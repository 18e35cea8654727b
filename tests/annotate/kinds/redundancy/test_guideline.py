"""The guidelines a project of redundant steps starts from."""

import re

from annotate.kinds.redundancy.kind import KIND


def test_both_guidelines_name_every_key_and_type_in_their_order_and_hint_at_nothing_hidden():
    english, chinese = KIND.guideline_en, KIND.guideline_zh
    assert not re.findall(r"\b(models?|arms?|judges?|common|jury|kappa|tokens?)\b", english)
    assert not re.findall("模型|评判|公共|陪审", chinese)
    for text in (english, chinese):
        for key in ("a", "d", "i", "e", "v", "0", "y", "c", "x", "n", "u", "t"):
            assert f"`{key}`" in text
    for text, types in (
        (english, ("| abnormal |", "| duplicated |", "| incorrect |", "| exploratory |")),
        (chinese, ("| 异常步骤 |", "| 重复步骤 |", "| 错误步骤 |", "| 探索性步骤 |")),
    ):
        places = [text.index(name) for name in types]
        assert places == sorted(places)
