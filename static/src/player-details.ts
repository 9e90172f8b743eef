// The details of one node: its names, its vector-Jacobian product, what it saved, and the gradients at this step.

import { make } from "./dom";
import { layOutValue } from "./matrix";
import { writeBytes } from "./player-chart";
import type { Replay } from "./player-tape";

export class NodePanel {
  readonly element: HTMLDetailsElement;
  private node: number | null = null;

  constructor(private readonly replay: Replay) {
    this.element = make("details", { class: "player-panel node-panel" });
    this.element.hidden = true;
  }

  choose(node: number): void {
    this.node = node;
    this.element.hidden = false;
    this.element.open = true;
    this.show();
  }

  show(): void {
    const node = this.node;
    if (node === null) return;
    const { nodes } = this.replay.tape;
    const table = make("dl", {});
    for (const [term, words, kind] of this.facts(node)) {
      if (words) table.append(make("div", {}, make("dt", {}, term), make("dd", kind ? { class: kind } : {}, ...layOutValue(words))));
    }
    const explained = nodes.explained[nodes.formula[node] ?? 0];
    if (explained) {
      const link = make("a", { href: explained[0] }, explained[1]);
      table.append(make("div", {}, make("dt", {}, "explained in"), make("dd", {}, link)));
    }
    const wasOpen = this.element.open;
    this.element.replaceChildren(make("summary", {}, `Node: ${nodes.label[node] ?? ""}`), table);
    this.element.open = wasOpen;
  }

  private facts(node: number): [term: string, words: string, kind?: string][] {
    const { replay } = this;
    const { nodes } = replay.tape;
    const leaf = nodes.kind[node] === "leaf";
    const span = nodes.span[node]?.split(",")[0];
    const held = replay.mostHeld(node);
    return [
      ["VJP", nodes.formulas[nodes.formula[node] ?? 0] ?? "", "node-formula"],
      ["in numbers", this.worked(node), "node-formula"],
      ["variable", nodes.variable[node] ?? ""],
      ["module", nodes.module[node] ?? ""],
      ["line", span ?? ""],
      ["output", `${nodes.shape[node] ?? ""} ${nodes.dtype[node] ?? ""}`.trim()],
      ["value", replay.valueInFull(node)],
      ["saved", nodes.saved[node] ?? ""],
      ["holds", held ? `${writeBytes(replay.held.get(node) ?? 0)} now, ${writeBytes(held)} at most` : ""],
      ["kept", leaf ? "" : replay.gradInFull(node)],
      ["received", leaf ? replay.gradInFull(node) : this.gradient(node, "incoming")],
      ["sent", leaf ? "" : this.gradient(node, "outgoing")],
    ];
  }

  /** The rule with the numbers of this node's last run up to the present step. */
  private worked(node: number): string {
    const { steps } = this.replay.tape;
    const runs = steps.worked.filter(([step]) => step < this.replay.taken && steps.node[step] === node);
    return runs.at(-1)?.[1] ?? "";
  }

  /** The full gradients of this node's last run up to the current step. */
  private gradient(node: number, column: "incoming" | "outgoing"): string {
    const { steps, events } = this.replay.tape;
    const end = this.replay.taken > 0 ? (steps.last[this.replay.taken - 1] ?? -1) : -1;
    for (let row = end; row >= 0; row -= 1) {
      if (events.node[row] === node && events.kind[row] === "vjp") return this.replay.inFull(column, row);
    }
    return "";
  }
}
