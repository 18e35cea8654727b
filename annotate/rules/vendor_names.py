"""Names of models, their makers and agent products that a visible text gives away, and vendors' handwriting in ids and
special tokens. Blindness does not promise to hide them: the text is shown as it is, and the lead is warned.

A *distinctive* word has no other meaning and counts alone: `ChatGPT`, `OpenAI`, `通义千问`. An *ambiguous* one also
names a person, a beast, a sign of the zodiac, a dish or a tool, and counts only where its own context says which is
meant: a version (`Llama 3`, `GLM-4`), a model line (`Gemini Flash`), the maker beside it (`Google's Gemini`), a word
for what it is (`Mistral API`, `豆包大模型`), or a speaker of that name who is an AI (`I am Claude, an AI assistant`).
So Claude Monet, a llama farm, a co-pilot, a minimax search and a steamed 豆包 are none. A *self-description* says
who made the speaker, whoever that is: `a language model trained by X`, `我是由 X 开发的`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

BEGIN, END = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"
"""Where a Latin word begins and ends, also inside the name of a tool; Chinese beside it is no part of it."""
TAIL = r"(?:[ -]?\d[\w.]*)?(?:-[\w.]+)*"
"""Version, size and date of a model, as far as they hang together."""

DISTINCTIVE = {
    "openai": r"OpenAI",
    "chatgpt": r"ChatGPT" + TAIL,
    "chat gpt": r"Chat GPT" + TAIL,
    "gpt": r"GPT[ -]?\d(?! ?partition)[\w.]*(?:-[\w.]+)*|GPT-oss(?:-\d+b)?|AutoGPT",
    "-mini": r"o[134]-mini",
    "o1-": r"o1-(?:preview|pro)",
    "davinci-0": r"(?:text|code)-davinci-\d+",
    "claude.ai": r"Claude\.ai",
    "deepmind": r"(?:Google )?DeepMind",
    "x.ai": r"x\.ai",
    "mixtral": r"Mixtral" + TAIL,
    "codestral": r"Codestral" + TAIL,
    "deepseek": r"DeepSeek" + TAIL,
    "qwen": r"Qwen" + TAIL,
    "qwq": r"QwQ-\d+b",
    "tongyi": r"Tongyi(?: Qianwen)?",
    "moonshot": r"Moonshot[ -]?AI|Moonshot-v\d[\w.-]*",
    "zhipu": r"Zhipu(?: ?AI)?",
    "z.ai": r"Z\.ai",
    "glm": r"(?:Chat)?GLM-\d[\w.]*(?:-[\w.]+)*|ChatGLM\d*",
    "ernie bot": r"ERNIE Bot" + TAIL,
    "doubao": r"Doubao" + TAIL,
    "hunyuan": r"Hunyuan" + TAIL,
    "01.ai": r"01\.AI",
    "yi-": r"Yi-(?:\d[\w.]*|Large|Medium|Lightning|VL|Coder)(?:-[\w.]+)*",
    "internlm": r"InternLM" + TAIL,
    "sensenova": r"SenseNova" + TAIL,
    "stepfun": r"StepFun",
    "baichuan": r"Baichuan" + TAIL,
    "sparkdesk": r"SparkDesk",
    "gemma-": r"Gemma-\d" + TAIL,
    "vicuna-": r"Vicuna-\d" + TAIL,
    "nemotron": r"Nemotron" + TAIL,
    "command": r"Command[ -]?R(?:\+|[ -]Plus|7B)|Command-R-\d[\w.-]*",
    "openhands": r"OpenHands",
    "swe-agent": r"SWE-agent",
}
"""By a piece in lower case that every find holds. Here the case of letters does not count, in `WITH_CASE` it does."""
WITH_CASE = {
    "anthropic": r"Anthropic(?! (?:activit|factor|impact|influence|pressure|principle))",
    "xai": r"xAI",
    "llama": r"LLaMA" + TAIL,
    "minimax": r"MiniMax-[A-Z0-9][\w.-]*",
    "mistral": r"Mistral AI",
    "ernie": r"ERNIE[ -]\d[\w.]*",
    "palm 2": r"PaLM 2",
    "phi-": r"Phi-[1-4](?:\.5)?(?:-[\w.]+)*",
    "meta ai": r"Meta AI",
    "devin ai": r"Devin AI",
    "manus ai": r"Manus AI",
}
CHINESE = {
    "通义": r"通义(?:千问|大模型|灵码|万相)",
    "千问": r"(?<!通义)千问(?:大模型|模型)|阿里千问",
    "深度求索": r"深度求索",
    "月之暗面": r"(?<![“「《\"])月之暗面(?![”」》\"])",  # in quotes it is a record of 1973
    "智谱": r"智谱(?:清言|\s?AI)?",
    "文心": r"文心(?:一言|大模型|快码)",
    "豆包": r"豆包(?:大模型|模型|助手|智能助手|\s?AI)|字节(?:跳动)?(?:旗下)?的?豆包|我(?:是|叫)豆包",
    "混元": r"腾讯混元|混元(?:大模型|模型|助手|\s?AI)",
    "零一万物": r"零一万物",
    "百川": r"百川(?:智能|大模型)",
    "星火": r"讯飞星火|星火(?:认知)?大模型",
    "盘古": r"盘古大模型",
    "书生": r"书生[·・]?浦语",
    "阶跃星辰": r"阶跃星辰",
    "稀宇": r"稀宇科技",
}


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """A word that needs its context: `lines` behind it, `maker` beside it. Of a *versioned* one a plain number is a
    version; Gemini 4 flew in 1965. `is_ai` tells whether a word for what it is behind it says enough."""

    word: str
    lines: str = ""
    maker: str = ""
    versioned: bool = False
    is_ai: bool = True

    def pattern(self) -> str:
        """All contexts as one pattern; what is found is the name with the context that counts."""
        name, more = f"(?i:{self.word})", r"[\w.]*(?:-[\w.]+)*"
        contexts = [rf"(?:I am|I['’]m|[Mm]y name is|我是|我叫)\s?{name}(?={AN_AI})"]
        if self.lines:
            contexts += [rf"{self.word}[ -](?:{self.lines}){more}", rf"{name}-(?i:{self.lines}){more}"]
        if self.maker:
            contexts.append(rf"(?:{self.maker})(?:['’]s)? {name}")
            contexts.append(rf"{name},? \(?(?:(?:made |built )?(?:by|from) )?(?:{self.maker})")
        if self.versioned:
            contexts += [rf"{self.word} ?v?\d{more}", rf"{name}-v?\d{more}"]
        if self.is_ai:
            contexts.append(rf"{self.word} ?(?:{AI}|API|model)")
        return "|".join(contexts)


AI = r"(?:\bAI\b|LLM|chat ?bot|(?:language |large )model|assistant|大模型|语言模型|智能助手|助手|人工智能)"
AN_AI = rf"[,，]?\s?(?:an?\b|your\b|the\b|一[个款名位]|你的|是)[^.!?。！？\n]{{0,30}}?{AI}"
AMBIGUOUS = (
    Ambiguous("Claude", r"Sonnet|Opus|Haiku|Instant|Code\b|Desktop", "Anthropic", versioned=True),
    Ambiguous("Gemini", r"Pro\b|Flash|Ultra\b|Nano\b|CLI\b|\d\.\d|\d[ -](?:Pro|Flash|Ultra)", "Google|DeepMind"),
    Ambiguous("Bard", maker="Google", is_ai=False),
    Ambiguous("Gemma", r"\d+[bB]\b|\d[ -]\d+[bB]\b", "Google"),
    Ambiguous("Llama", r"Guard|Instruct|\d+[bB]\b|cpp", "Meta", versioned=True),
    Ambiguous("Grok", r"Mini\b", "xAI", versioned=True),
    Ambiguous("Mistral", r"Large|Medium|Small|Nemo\b|Tiny|\d+[bB]\b"),
    Ambiguous("Kimi", r"[kK]\d|Chat\b", "Moonshot|月之暗面的?"),
    Ambiguous("MiniMax", r"Text-|M\d\b|abab", is_ai=False),
    Ambiguous("Copilot", r"Chat\b|Studio\b|Workspace\b", "GitHub|Microsoft|365", is_ai=False),
    Ambiguous("Cohere", r"AI\b|API\b|Command\b|Labs\b", is_ai=False),
    Ambiguous("Codex", r"CLI\b", "OpenAI", is_ai=False),
    Ambiguous("Nova", maker="Amazon", is_ai=False),
    Ambiguous("Phi", maker="Microsoft", is_ai=False),
)

MAKER = r"(?:the )?(?:[A-Z][\w.&-]{0,30}|xAI)(?: [A-Z][\w.&-]{0,30}){0,2}"
MADE = ("trained", "developed", "created", "made", "built", "designed")
SPEAKER = r"(?i:AI(?: language model| model| assistant| agent| system)?|language model|assistant|chat ?bot)"
SELF_DESCRIPTIONS = {
    f"{made} by": rf"{BEGIN}(?:{SPEAKER},?(?: that| which)?(?: was| is)?|I(?: was| am|['’]m)) {made} by {MAKER}"
    for made in MADE
}
CHINESE_SELF_DESCRIPTIONS = {
    "我是由": r"我是由[^，。！？；,!?;\n]{1,20}?(?:开发|训练|研发|打造|创造|创建|推出|研制|设计)",
    "由": r"由[^，。！？；,!?;\n由]{1,20}?(?:开发|训练|研发|打造|推出|研制)的[^，。！？；,!?;\n由]{0,8}?"
    r"(?:语言模型|大模型|AI\s?助手|智能助手|人工智能)",
}

MARKS = {
    "toolu_": r"toolu_[A-Za-z0-9]{6,}",
    "chatcmpl-": r"chatcmpl-[A-Za-z0-9]{6,}",
    "call_": r"call_(?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{8,}",
    "msg_0": r"msg_0[A-Za-z0-9]{10,}",
    "resp_": r"resp_[0-9a-f]{16,}",
    "fc_": r"fc_[0-9a-f]{16,}",
    "rs_": r"rs_[0-9a-f]{16,}",
}
"""Ids as vendors write them."""
TOKENS = {
    "<|": r"<\|[a-z_]{2,40}\|>",
    "<｜": r"<｜[^｜<>\n]{1,40}｜>",
    "[inst]": r"\[INST\]",
    "<think": r"<think(?:ing)?>",
    "<function_calls>": r"<function_calls>",
}
"""Marks that models put around turns, calls and thoughts, each family its own."""


def compiled() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Every pattern behind a piece that is in whatever it finds, so that most texts need no pattern at all."""
    for table, flags in ((DISTINCTIVE, re.IGNORECASE), (WITH_CASE, re.NOFLAG), (MARKS, re.NOFLAG)):
        for piece, pattern in table.items():
            yield piece, re.compile(f"{BEGIN}(?:{pattern}){END}", flags | re.ASCII)
    for one in AMBIGUOUS:
        yield one.word.lower(), re.compile(f"{BEGIN}(?:{one.pattern()})", re.ASCII)
    for table in (CHINESE, SELF_DESCRIPTIONS, CHINESE_SELF_DESCRIPTIONS, TOKENS):
        yield from ((piece, re.compile(pattern, re.ASCII)) for piece, pattern in table.items())


PATTERNS = tuple(compiled())
LATIN = tuple((piece.encode(), pattern) for piece, pattern in PATTERNS if piece.isascii())
HAN = tuple((piece, pattern) for piece, pattern in PATTERNS if not piece.isascii())
ANY_HAN = re.compile("[\u4e00-\u9fff\uff5c]")


def patterns_for(text: str) -> Iterator[re.Pattern[str]]:
    """Those whose piece is there. Most texts have none; bytes are looked through much faster than characters."""
    lowered = text.lower().encode("ascii", "replace")
    yield from (pattern for piece, pattern in LATIN if piece in lowered)
    if ANY_HAN.search(text):
        yield from (pattern for piece, pattern in HAN if piece in text)


def vendor_names(text: str) -> list[str]:
    """What gives a model or a vendor away, as the text has it, in the order of the text and each once."""
    found = [match for pattern in patterns_for(text) for match in pattern.finditer(text)]
    found.sort(key=lambda match: (match.start(), -match.end()))
    names: dict[str, str] = {}
    end = 0
    for match in found:
        if match.start() >= end:  # what overlaps a name before it is the same one
            name = " ".join(match[0].split()).rstrip(".,-(")
            names.setdefault(name.casefold(), name)
            end = match.end()
    return list(names.values())
