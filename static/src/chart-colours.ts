// The colours of a chart's series. A colour with a meaning elsewhere keeps it here: what is kept is amber in every chart.

// In this order: where one series is "kept" and another "peak", amber is for what is kept.
const MEANINGS: readonly (readonly [words: RegExp, colour: string])[] = [
  [/\b(kept|saved|held|retain|store)\b/, "--saved"],
  [/\b(bytes|memory|peak)\b/, "--saved"],
  [/\bbackward\b/, "--backward"],
  [/\bforward\b/, "--forward"],
];
/** Colours without a meaning elsewhere. */
const PLAIN = ["--chart-1", "--chart-2", "--chart-3", "--chart-4", "--chart-5", "--cut"];

/** The name of a colour for each series; all differ as long as there are enough colours. */
export function chooseColours(names: readonly string[]): string[] {
  const meant = new Map<number, string>();
  for (const [words, colour] of MEANINGS) {
    const index = names.findIndex((name, place) => words.test(name) && !meant.has(place));
    if (index >= 0 && ![...meant.values()].includes(colour)) meant.set(index, colour);
  }
  const plain = PLAIN[Symbol.iterator]();
  return names.map((_, index) => meant.get(index) ?? plain.next().value ?? "--ink");
}
