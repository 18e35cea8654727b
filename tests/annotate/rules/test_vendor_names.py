import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.rules.vendor_names import PATTERNS, vendor_names

NAMED = {
    "I asked GPT-4o about it.": ["GPT-4o"],
    "gpt-4.1-mini-2025-04-14": ["gpt-4.1-mini-2025-04-14"],
    "use o3-mini or gpt-oss-120b": ["o3-mini", "gpt-oss-120b"],
    "ChatGPT says so": ["ChatGPT"],
    "a call to OpenAI's API": ["OpenAI"],
    "Anthropic released Claude 3.5 Sonnet": ["Anthropic", "Claude 3.5"],
    "claude-3-opus-20240229 and Claude Opus": ["claude-3-opus-20240229", "Claude Opus"],
    "Claude Code changed the file": ["Claude Code"],
    "Google's Gemini, or gemini-2.5-flash": ["Google's Gemini", "gemini-2.5-flash"],
    "Gemini 1.5 and Gemini 3 Pro": ["Gemini 1.5", "Gemini 3 Pro"],
    "Gemini, made by Google DeepMind": ["Gemini, made by Google"],
    "the people of Google DeepMind": ["Google DeepMind"],
    "Grok 4 by xAI": ["Grok 4", "xAI"],
    "Meta's Llama or Llama 3 or llama-3.1-70b": ["Meta's Llama", "Llama 3", "llama-3.1-70b"],
    "Mistral AI has Mixtral 8x7B and Mistral 7B": ["Mistral AI", "Mixtral 8x7B", "Mistral 7B"],
    "Qwen2.5-72B-Instruct": ["Qwen2.5-72B-Instruct"],
    "我用的是通义千问。": ["通义千问"],
    "DeepSeek-V3，也就是深度求索的模型": ["DeepSeek-V3", "深度求索"],
    "Kimi K2 from Moonshot AI": ["Kimi K2", "Moonshot AI"],
    "月之暗面的Kimi": ["月之暗面"],
    "GLM-4.5 and ChatGLM3 of Zhipu": ["GLM-4.5", "ChatGLM3", "Zhipu"],
    "智谱清言和文心一言": ["智谱清言", "文心一言"],
    "ERNIE Bot, ERNIE 4.5": ["ERNIE Bot", "ERNIE 4.5"],
    "豆包大模型、腾讯混元、零一万物": ["豆包大模型", "腾讯混元", "零一万物"],
    "Doubao-pro, Hunyuan-Large, MiniMax-M1, Yi-34B": ["Doubao-pro", "Hunyuan-Large", "MiniMax-M1", "Yi-34B"],
    "Cohere's Command R+": ["Command R+"],
    "GitHub Copilot and Microsoft Copilot": ["GitHub Copilot", "Microsoft Copilot"],
    "中文里的GPT-4o也算": ["GPT-4o"],
    "gpt-4o. GPT-4o! GPT-4O?": ["gpt-4o"],
}
SELF_DESCRIBED = {
    "As an AI language model trained by Initech, I cannot.": "AI language model trained by Initech",
    "I am an AI assistant created by Globex Corp.": "AI assistant created by Globex Corp",
    "I was built by the Umbrella Team": "I was built by the Umbrella Team",
    "I'm Claude, an AI assistant": "I'm Claude",
    "I am Gemini, a large language model": "I am Gemini",
    "我是Kimi，一个智能助手": "我是Kimi",
    "我是豆包": "我是豆包",
    "我是由某某科技公司开发的助手": "我是由某某科技公司开发",
    "作为由某某公司研发的人工智能助手": "由某某公司研发的人工智能",
}
MARKS = [
    "toolu_01A09q90qw90lq917835lq9",
    "chatcmpl-DlRzaa1cr973JIh8P15dW7bBoNR3s",
    "call_PH4NbRhigYVz5j4z1puH0aJ0",
    "call_53551660",
    "msg_01XFDUDYJgAACzvnptvVoYEL",
    "<|im_start|>",
    "<｜tool▁calls▁begin｜>",
    "[INST]",
    "<think>",
]
OTHER = [
    *("Claude Monet painted it.", "My name is Claude Dupont and my assistant called.", "Claude, the 3rd of May"),
    *("I am a Gemini by the zodiac.", "Gemini 4 flew in 1965.", "the llama farm has 3 llamas", "I grok 3 of them"),
    *("the copilot landed", "a mistral blew", "the parts cohere with each other", "Kimi Räikkönen won"),
    *("minimax search", "a generalized linear model (GLM)", "phi is 1.618", "Nova Scotia", "the bard of Avon"),
    *("Command-R reloads the page", "GPT 2 partitions", "the GPT partition table", "Ernie and Bert", "an XAI method"),
    *("the anthropic principle", "Anthropic activities changed the river", "anthropogenic", "Philo-1", "Yi-ping"),
    *("the model was trained by Rosa", "It was made by hand.", "I was asked by Tim", "sent by Google Home"),
    *(
        "今天早餐吃豆包和咸菜",
        "混元之气",
        "百川归海",
        "星火燎原",
        "这张唱片叫“月之暗面”",
        "自由开发的模型",
        "由我们团队开发的水文模型",
    ),
    *("call_center_agent", "call_1", "call_me_maybe_later", "toolu_", "recall_12345678", "a <b> c", "if a < thinking"),
    "",
]


@pytest.mark.parametrize("text", NAMED)
def test_names_are_found_as_the_text_has_them(text):
    assert vendor_names(text) == NAMED[text]


@pytest.mark.parametrize("text", SELF_DESCRIBED)
def test_whoever_says_who_made_them_gives_it_away(text):
    assert vendor_names(text) == [SELF_DESCRIBED[text]]


@pytest.mark.parametrize("mark", MARKS)
def test_ids_and_tokens_of_vendors_are_found_inside_a_text(mark):
    assert vendor_names(f"The id is {mark}, see there.") == [mark]


@pytest.mark.parametrize("text", OTHER)
def test_words_with_another_meaning_are_none_without_their_context(text):
    assert vendor_names(text) == []


def test_every_pattern_finds_nothing_without_its_piece():
    """So that looking for the pieces first never hides a name."""
    texts = [*NAMED, *SELF_DESCRIBED, *(f"The id is {mark}" for mark in MARKS)]
    for piece, pattern in PATTERNS:
        for found in (match[0] for text in texts for match in pattern.finditer(text)):
            assert piece in found.lower()


FRAGMENTS = st.sampled_from([*NAMED, *SELF_DESCRIBED, *MARKS, *OTHER, "a", " ", "\n", "，", "-", "4", "by "])


@settings(max_examples=200, deadline=None)
@given(st.lists(FRAGMENTS, max_size=6), st.sampled_from(list(NAMED)), st.lists(FRAGMENTS, max_size=6))
def test_what_stands_in_other_paragraphs_neither_hides_a_name_nor_is_changed_by_it(before, text, after):
    around = "\n\n".join(["".join(before), text, "".join(after)])
    found = vendor_names(around)
    assert {name.casefold() for name in NAMED[text]} <= {name.casefold() for name in found}
    assert all(name in " ".join(around.split()) for name in found)
    assert len({name.casefold() for name in found}) == len(found)


@pytest.mark.parametrize(
    "piece",
    [
        *(piece for piece, _ in PATTERNS),
        *(
            "gpt-4",
            "gpt-4-a",
            "claude-",
            "claude 3",
            "qwen-a",
            "llama ",
            "Gemini ",
            "I am Claude ",
            "我是Kimi，一个",
            "call_a",
        ),
        *(
            "AI model made by A B C ",
            "AI made by ",
            "由甲",
            "我是由甲",
            "由甲开发的乙",
            "<|a",
            "<｜a",
            "豆包",
            "Chat GPT 4-",
            "deepseek-.",
        ),
    ],
)
def test_the_time_grows_with_the_length_and_no_faster(piece):
    for text in (piece * (50_000 // len(piece)), piece + " " * 50_000, piece + "a" * 50_000, piece + "-1" * 25_000):
        begun = time.perf_counter()
        vendor_names(text)
        assert time.perf_counter() - begun < 2
