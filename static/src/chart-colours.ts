// The colours of a chart's series. A colour with a meaning elsewhere keeps it here: memory is amber in every chart.

const MEANINGS: readonly (readonly [words: RegExp, colour: string])[] = [
  [/\b(kept|saved|held|bytes|memory|peak|retain|store)\b/, "--saved"],
  [/\bbackward\b/, "--backward"],
  [/\bforward\b/, "--forward"],
];
/** Colours without a meaning elsewhere. */
const PLAIN = ["--chart-1", "--chart-2", "--chart-3", "--chart-4", "--chart-5", "--cut"];

/** The name of a colour for each series; all differ as long as there are enough colours. */
export function chooseColours(names: readonly string[]): string[] {
  const taken = new Set<string>();
  const meant = names.map((name) => {
    const found = MEANINGS.find(([words, colour]) => words.test(name) && !taken.has(colour))?.[1];
    if (found) taken.add(found);
    return found;
  });
  const plain = PLAIN[Symbol.iterator]();
  return meant.map((colour) => colour ?? plain.next().value ?? "--ink");
}
