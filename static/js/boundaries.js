// Where graphemes, words and sentences of a text begin and end. Moving goes to beginnings; extending takes words and
// sentences to their ends, so that a mark holds them and nothing else. Every offset counts UTF-16 units.

// A sentence ends at . ! ? before a blank, at 。！？； anywhere (closing quotes and brackets included), or with its line.
const CLOSING = "[\"'”’)\\]」』）】》]*";
const SENTENCE = new RegExp(`\\S[^]*?(?:[.!?]+${CLOSING}(?=\\s|$)|[。！？；]+${CLOSING}|(?=\\n)|$)`, "gu");
const PICTURE = /\p{Extended_Pictographic}|\p{Regional_Indicator}/u;

function segmenter(language, granularity) {
  try {
    return new Intl.Segmenter(language || undefined, { granularity });
  } catch {  // the material names a language that there is not
    return new Intl.Segmenter(undefined, { granularity });
  }
}

const isWord = ({ isWordLike, segment }) => isWordLike || PICTURE.test(segment);

export class Boundaries {
  constructor(text, language) {
    this.text = text;
    this.graphemes = segmenter(language, "grapheme").segment(text);
    this.words = segmenter(language, "word").segment(text);
  }

  get sentences() {
    this.found ??= [...this.text.matchAll(SENTENCE)].map((match) => {
      const start = match.index;
      return [start, start + match[0].trimEnd().length];
    });
    return this.found;
  }

  // The beginning of the grapheme that a unit stands in.
  grapheme(unit) {
    return this.graphemes.containing(unit)?.index ?? this.text.length;
  }

  character(at, isForward) {
    if (!isForward) return at > 0 ? this.grapheme(at - 1) : 0;
    const here = this.graphemes.containing(at);
    return here ? here.index + here.segment.length : this.text.length;
  }

  word(at, isForward, isExtending) {
    if (!isForward) return this.wordBefore(at);
    let here = this.words.containing(at);
    if (!isExtending && here) here = this.words.containing(here.index + here.segment.length);
    while (here && !isWord(here)) here = this.words.containing(here.index + here.segment.length);
    if (!here) return this.text.length;
    return isExtending ? here.index + here.segment.length : here.index;
  }

  wordBefore(at) {
    let here = at > 0 ? this.words.containing(at - 1) : undefined;
    while (here && !isWord(here)) here = here.index > 0 ? this.words.containing(here.index - 1) : undefined;
    return here ? here.index : 0;
  }

  sentence(at, isForward, isExtending) {
    if (!isForward) return this.sentences.findLast(([start]) => start < at)?.[0] ?? 0;
    const next = this.sentences.find(([start, end]) => (isExtending ? end : start) > at);
    return next ? next[isExtending ? 1 : 0] : this.text.length;
  }

  // What stands at a place, to be read out.
  wordAt(at) {
    return this.words.containing(at)?.segment ?? "";
  }

  sentenceAt(at) {
    const [start, end] = this.sentences.findLast(([begin]) => begin <= at) ?? [0, 0];
    return this.text.slice(start, end);
  }
}
