// Two sorted lists, a search and a colouring: ways to find a node in a graph that is too large to read.

import { make } from "./dom";
import { writeBytes } from "./player-chart";
import type { TapeDocument } from "./player-tape";

const MAX_HITS = 30;

/** A panel of buttons that each lead to a node. */
function listing(title: string, items: [node: number | null, words: string][], jump: (node: number) => void): HTMLDetailsElement {
  const list = make("ol", { class: "node-list" });
  for (const [node, words] of items) {
    if (node === null) {
      list.append(make("li", {}, words));
      continue;
    }
    const button = make("button", { type: "button" }, words);
    button.addEventListener("click", () => jump(node));
    list.append(make("li", {}, button));
  }
  const panel = make("details", { class: "player-panel" });
  panel.append(make("summary", {}, title), list);
  return panel;
}

export function listHolders(tape: TapeDocument, jump: (node: number) => void): HTMLDetailsElement | null {
  if (!tape.holders.length) return null;
  const items = tape.holders.map(([node, words, bytes]): [number, string] => [node, `${writeBytes(bytes)}: ${words}`]);
  return listing("What holds the memory", items, jump);
}

export function listUnreached(tape: TapeDocument, jump: (node: number) => void): HTMLDetailsElement | null {
  const { length } = tape.unreached;
  return length ? listing(`What backward did not reach, and why: ${length}`, tape.unreached, jump) : null;
}

/** A field that finds nodes by operation, variable, module or line. */
export function searchNodes(tape: TapeDocument, jump: (node: number) => void): HTMLElement {
  const field = make("input", { type: "search", class: "node-search", placeholder: "Find a node", "aria-label": "Find a node" });
  const hits = make("ol", { class: "node-list" });
  hits.hidden = true;
  const said = make("p", { class: "visually-hidden", role: "status" });
  const helpers = new Set(tape.hosts.map(([helper]) => helper));
  const texts = tape.nodes.label.map((label, node) => {
    const line = tape.nodes.span[node]?.split(",")[0];
    return [label, tape.nodes.variable[node], tape.nodes.module[node], line ? `line ${line}` : ""].filter(Boolean).join(", ");
  });
  field.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase();
    const found = texts.flatMap((text, node) => (wanted && !helpers.has(node) && text.toLowerCase().includes(wanted) ? [node] : []));
    hits.hidden = !wanted;
    said.textContent = wanted ? `${found.length} found` : "";
    hits.replaceChildren(
      ...found.slice(0, MAX_HITS).map((node) => {
        const button = make("button", { type: "button" }, texts[node] ?? "");
        button.addEventListener("click", () => jump(node));
        return make("li", {}, button);
      }),
      ...(found.length > MAX_HITS ? [make("li", {}, `and ${found.length - MAX_HITS} more`)] : []),
      ...(found.length ? [] : [make("li", {}, "No node matches.")]),
    );
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") hits.querySelector("button")?.click();
  });
  return make("div", { class: "node-finder" }, field, said, hits);
}
