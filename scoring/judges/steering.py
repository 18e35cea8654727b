"""Marks of a text that talks to the model that judges it. They change no verdict: they tell leads where to look."""

from __future__ import annotations

import re
from collections.abc import Iterable

PATTERNS = (
    r"\b(?:ignore|disregard|forget|override)\b[^.!?\n]{0,30}\b(?:previous|prior|above|earlier|preceding|foregoing)\b"
    r"[^.!?\n]{0,20}\b(?:instructions?|prompts?|rules?|directions?)",
    r"\b(?:note|message|instructions?|attention)\s+(?:to|for)\s+(?:the\s+|any\s+)?(?:AI\s+|LLM\s+)?"
    r"(?:judges?|graders?|evaluators?|reader model|checker)\b",
    r"\b(?:output|answer|respond|reply|return)\b[^.!?\n]{0,30}\b(?:exactly|only|verbatim|following json|this json)\b"
    r"[^\n]{0,40}[{\[]",
    r"\b(?:list|ask|raise|report)\s+no\s+(?:questions|errors|gaps|omissions)\b",
    r"\banswer_(?:needed|quote)\b|\bNOT_IN_TEXT\b|\"(?:questions|omissions|downplayed)\"\s*:",
    r"\[\[[^\]\n]{0,80}\b(?:begin|end) (?:files|conversation|reply|text|questions|record)\]\]",
    r"<\|[a-z_]{2,40}\|>|\[/?INST\]",
    r"(?:忽略|无视|忘记)[^。！？\n]{0,10}(?:以上|之前|前面|上述|先前|此前)[^。！？\n]{0,10}(?:指令|指示|要求|提示|规则)",
    r"(?:致|给|请)(?:各位)?(?:AI|模型)?(?:评判|评审|评分|打分|检查)(?:器|者|员|模型)",
    r"(?:不要|无需|请勿)(?:再)?(?:列出|提出|报告)任何(?:问题|错误|遗漏)",
    r"(?:只|仅|直接)(?:输出|返回|回答)(?:以下|下面|如下)",
)
STEERS = re.compile("|".join(f"(?:{pattern})" for pattern in PATTERNS), re.IGNORECASE)


def steers(texts: Iterable[str]) -> bool:
    return any(STEERS.search(text) for text in texts)
