"""The guidelines a reply project starts from."""

import re

from annotate.kinds.reply.kind import KIND


def test_both_guidelines_name_every_key_and_hint_at_nothing_hidden():
    english, chinese = KIND.guideline_en, KIND.guideline_zh
    assert not re.findall(r"\b(models?|arms?|judges?|conditions?|rewrit\w+|kappa)\b", english)
    assert not re.findall("模型|评审|改写|版本", chinese)
    for key in ("1", "2", "3", "n", "d", "r", "b"):
        assert f"`{key}`" in english
        assert f"`{key}`" in chinese
    for term in ("需求方", "可直接阅读", "需补充信息", "无法修复或未作答", "定义", "指代", "背景", "信息缺口"):
        assert term in chinese
