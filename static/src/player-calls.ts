// One graph per backward call: tabs that show the nodes of one call alone.

import { make } from "./dom";
import type { TapeDocument } from "./player-tape";

export interface CallsEvents {
  /** Shows only these nodes; null means the whole graph. `first` is the step where the call begins. */
  focus(nodes: ReadonlySet<number> | null, first: number | null): void;
}

/** The tabs, or null if there are fewer than two calls. */
export function offerCalls(tape: TapeDocument, events: CallsEvents): HTMLElement | null {
  const calls = tape.calls.filter(([label]) => label !== "forward");
  if (calls.length < 2) return null;
  const bar = make("div", { class: "player-calls", role: "group", "aria-label": "Graph of one backward call" });
  const add = (words: string, act: () => void): void => {
    const button = make("button", { type: "button", "aria-pressed": "false" }, words);
    button.addEventListener("click", () => {
      for (const other of bar.querySelectorAll("button")) other.setAttribute("aria-pressed", String(other === button));
      act();
    });
    bar.append(button);
  };
  add("whole graph", () => events.focus(null, null));
  bar.firstElementChild?.setAttribute("aria-pressed", "true");
  for (const [label, first, last] of calls) add(label, () => events.focus(nodesOf(tape, first, last), first));
  return bar;
}

const RUNS = ["backward", "vjp", "accumulate", "capture", "error"];

/** Every node that runs between the steps `first` and `last`; nodes that the call only records are left out. */
function nodesOf(tape: TapeDocument, first: number, last: number): Set<number> {
  const { kind, node } = tape.events;
  const ran = new Set<number>();
  for (let row = tape.steps.first[first - 1] ?? 0; row <= (tape.steps.last[last - 1] ?? -1); row += 1) {
    const about = node[row];
    if (typeof about === "number" && RUNS.includes(kind[row] ?? "")) ran.add(about);
  }
  return ran;
}
