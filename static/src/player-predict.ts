// Predict first: before a backward step is shown, the reader predicts which node runs, what shape it receives, or how
// many bytes are held after it. Right and wrong answers are counted; every question can be skipped.

import { make } from "./dom";
import { writeBytes } from "./player-chart";
import type { Replay } from "./player-tape";

type Kind = "node" | "shape" | "bytes";

interface Asked {
  step: number;
  kind: Kind;
  right: string;
}

export class Predictor {
  readonly element: HTMLElement;
  private readonly box: HTMLInputElement;
  private readonly question: HTMLElement;
  private readonly choices: HTMLElement;
  private readonly said: HTMLElement;
  private asked: Asked | null = null;
  private turn = 0;
  private right = 0;
  private total = 0;

  constructor(
    private readonly replay: Replay,
    private readonly goOn: (taken: number) => void,
    private readonly isShown: (node: number) => boolean,
    switched: (predicts: boolean) => void,
  ) {
    this.box = make("input", { type: "checkbox" });
    this.box.addEventListener("change", () => {
      this.withdraw();
      switched(this.box.checked);
    });
    this.question = make("p", { class: "predict-question" });
    this.choices = make("div", { class: "predict-choices" });
    this.said = make("p", { class: "predict-said", role: "status" });
    const label = make("label", { class: "check" }, this.box, " Let me predict each step of backward");
    this.element = make("div", { class: "player-predict" }, label, this.question, this.choices, this.said);
    this.withdraw();
  }

  /** Asks about the next step if it is a backward step with a question; true while the answer is awaited. */
  holds(next: number): boolean {
    if (!this.box.checked || next !== this.replay.taken + 1 || !this.isBackward(next)) return false;
    if (this.asked?.step !== next) this.ask(next);
    return this.asked !== null;
  }

  /** A click on a node answers the question for the next node. */
  answerNode(node: number): boolean {
    if (this.asked?.kind !== "node") return false;
    this.judge(this.name(node));
    return true;
  }

  /** Drops an open question, because the reader went to another step. */
  withdraw(): void {
    this.asked = null;
    this.question.hidden = this.choices.hidden = true;
  }

  private isBackward(step: number): boolean {
    const { steps, events } = this.replay.tape;
    return ["vjp", "accumulate"].includes(events.kind[steps.main[step - 1] ?? 0] ?? "");
  }

  private ask(step: number): void {
    const { steps, events } = this.replay.tape;
    const row = steps.main[step - 1] ?? 0;
    const node = steps.node[step - 1] ?? -1;
    const shape = shapeOf(events.incoming[row] ?? "");
    // The reader's own engine has no saved tensors whose bytes the question could be about.
    const last = this.replay.tape.engine === "torch" ? (["bytes"] as const) : [];
    const kinds: Kind[] = ["node", ...(shape ? (["shape"] as const) : []), ...last];
    const rights = { node: this.name(node), shape, bytes: writeBytes(this.replay.bytes(step)) };
    const turned = kinds.map((_, place) => kinds[(this.turn + place) % kinds.length] ?? "node");
    // A question with only one possible answer is pointless.
    const kind = turned.find((wanted) => this.options(wanted, rights[wanted]).length > 1);
    if (!kind) return this.withdraw();
    this.turn += 1;
    const right = rights[kind];
    this.asked = { step, kind, right };
    this.said.textContent = "";
    this.question.textContent = {
      node: "Which node runs next? Click it in the picture, or choose:",
      shape: `${this.name(node)} runs next. What is the shape of the gradient that it receives?`,
      bytes: `${this.name(node)} runs next. How many bytes are held for backward after it?`,
    }[kind];
    const skip = make("button", { type: "button", class: "button button-quiet" }, "Skip");
    skip.addEventListener("click", () => this.leave("Skipped."));
    this.choices.replaceChildren(...this.options(kind, right).map((option) => this.button(option)), skip);
    this.question.hidden = this.choices.hidden = false;
    (this.choices.firstElementChild as HTMLElement).focus({ preventScroll: true });
  }

  private button(option: string): HTMLButtonElement {
    const button = make("button", { type: "button", class: "button" }, option);
    button.addEventListener("click", () => this.judge(option));
    return button;
  }

  /** The right answer among plausible others: nodes of later steps, shapes and byte counts of this tape. */
  private options(kind: Kind, right: string): string[] {
    const { steps, events } = this.replay.tape;
    const others = new Set<string>();
    for (let step = this.replay.taken + 1; step <= this.replay.length && others.size < 40; step += 1) {
      if (!this.isBackward(step)) continue;
      const node = steps.node[step - 1] ?? -1;
      if (kind === "node" && this.isShown(node)) others.add(this.name(node));
      if (kind === "shape") others.add(shapeOf(events.incoming[steps.main[step - 1] ?? 0] ?? ""));
      if (kind === "bytes") others.add(writeBytes(this.replay.bytes(step)));
    }
    if (kind === "shape") for (const shape of this.replay.tape.nodes.shape) others.add(shape);
    if (kind === "bytes") others.add(writeBytes(this.replay.bytes()));
    others.delete("");
    others.delete(right);
    // In alphabetical order, so that an answer's position reveals nothing.
    return [right, ...[...others].slice(0, 3)].sort((one, other) => one.localeCompare(other, "en", { numeric: true }));
  }

  private name(node: number): string {
    const { nodes } = this.replay.tape;
    const line = nodes.span[node]?.split(",")[0];
    const variable = nodes.kind[node] === "leaf" ? "" : (nodes.variable[node] ?? "");
    const label = nodes.label[node] ?? "";
    return [variable ? `${variable} = ${label}` : label, line ? `line ${line}` : ""].filter(Boolean).join(", ");
  }

  private judge(answer: string): void {
    const { asked } = this;
    if (!asked) return;
    const isRight = answer === asked.right;
    this.total += 1;
    this.right += isRight ? 1 : 0;
    const words = isRight ? `✓ Yes: ${asked.right}.` : `✗ You said ${answer}; it is ${asked.right}.`;
    this.leave(`${words} ${this.right} of ${this.total} right.`, isRight ? "right" : "wrong");
  }

  private leave(words: string, kind = ""): void {
    const step = this.asked?.step ?? this.replay.taken;
    this.withdraw();
    this.said.className = `predict-said ${kind}`;
    this.said.textContent = words;
    this.goOn(step);
  }
}

function shapeOf(text: string): string {
  return /^\([\d, ]*\)/.exec(text)?.[0] ?? "";
}
