// A bar of symbols for phones, whose keyboards hide what Python needs. CSS shows it where the pointer is coarse.

const SYMBOLS: readonly (readonly [string, string, string])[] = [
  ["⇥", "    ", "indent"],
  ["(", "(", "open parenthesis"],
  [")", ")", "close parenthesis"],
  ["[", "[", "open bracket"],
  ["]", "]", "close bracket"],
  ["=", "=", "equals"],
  [".", ".", "dot"],
  [",", ",", "comma"],
  [":", ":", "colon"],
  ["_", "_", "underscore"],
  ["*", "*", "star"],
  ["+", "+", "plus"],
  ["-", "-", "minus"],
  ['"', '"', "quote"],
  ["#", "#", "hash"],
];

export function addSymbols(field: HTMLTextAreaElement, insert: (text: string) => void): void {
  const bar = document.createElement("div");
  bar.className = "symbols";
  bar.setAttribute("role", "toolbar");
  bar.setAttribute("aria-label", "Symbols");
  for (const [face, text, name] of SYMBOLS) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = face;
    button.setAttribute("aria-label", name);
    // A press must not move the focus, or the phone's keyboard would close.
    button.addEventListener("pointerdown", (event) => event.preventDefault());
    button.addEventListener("click", () => insert(text));
    bar.append(button);
  }
  field.parentElement?.after(bar);
}
