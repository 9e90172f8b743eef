// The button that opens the whole graph on a canvas. It is offered only if the picture folds something.

import { make } from "./dom";
import type { GraphElement } from "./graph";
import type { Colouring } from "./player-colour";
import type { Replay } from "./player-tape";
import { readRefusal } from "./refusal";
import type { WholeView } from "./whole";
import type { WholeDocument } from "./whole-draw";
import { readSpans, type Span } from "./spans";

export interface WholePlace {
  href: string;
  /** How many operations are opened at once. */
  most: number;
}

interface WholeParts {
  graph: GraphElement;
  replay: Replay;
  colouring: Colouring;
  choose(node: number): void;
}

export class WholeDoor {
  readonly element = make("p", { class: "whole-offer" });
  view: WholeView | null = null;
  private readonly button = make("button", { type: "button", class: "button" });
  private readonly said = make("span", { role: "status" });
  private readonly lightAt = (event: Event): void => {
    this.view?.lightAt((event as CustomEvent<{ line: number; column: number } | null>).detail);
  };

  constructor(
    private readonly place: WholePlace,
    private readonly parts: WholeParts,
  ) {
    const { operations } = parts.replay.tape;
    const count = operations.toLocaleString("en");
    this.element.hidden = true;
    if (operations > place.most) {
      const most = place.most.toLocaleString("en");
      this.element.append(`The graph has ${count} operations. At most ${most} are opened at once: open the folds one by one.`);
      return;
    }
    this.button.textContent = `Open all ${count} operations`;
    this.button.addEventListener("click", () => void this.open());
    this.element.append(this.button, " ", this.said);
  }

  /** Shows the button if the picture hides something. */
  offer(isFolded: boolean): void {
    this.element.hidden = !isFolded || this.view !== null;
  }

  /** Whether the whole graph may be opened at all. */
  get isOpenable(): boolean {
    return this.button.isConnected;
  }

  close(): void {
    if (!this.view) return;
    const { graph } = this.parts;
    this.view.close();
    this.view = null;
    graph.removeEventListener("uw-lit-at", this.lightAt);
    graph.toggleAttribute("data-whole", false);
    this.element.hidden = false;
    this.button.focus({ preventScroll: true });
  }

  private async open(): Promise<void> {
    this.said.textContent = "Laying it out …";
    this.button.disabled = true;
    try {
      const [shape, canvas] = await Promise.all([this.load(), loadCanvas()]);
      this.show(shape, canvas);
      this.said.textContent = "";
    } catch (problem) {
      this.said.textContent = problem instanceof Error ? problem.message : "";
    } finally {
      this.button.disabled = false;
    }
  }

  private async load(): Promise<WholeDocument> {
    const answer = await fetch(this.place.href, { headers: { Accept: "application/json" } }).catch(() => null);
    if (answer?.ok) return (await answer.json()) as WholeDocument;
    throw new Error(await readRefusal(answer, "The graph is no longer kept; run the code again, then open it."));
  }

  private show(shape: WholeDocument, canvas: typeof import("./whole")): void {
    const { graph, replay, colouring, choose } = this.parts;
    const isStepping = graph.querySelector("svg.graph-picture")?.classList.contains("is-stepping") ?? false;
    const events = { choose, point: (node: number | null) => this.light(node), close: () => this.close() };
    this.view = new canvas.WholeView(shape, replay, events, isStepping);
    graph.toggleAttribute("data-whole", true);
    graph.before(this.view.element);
    graph.addEventListener("uw-lit-at", this.lightAt);
    this.view.colour((boxes) => colouring.paint(boxes));
    this.element.hidden = true;
    this.view.element.querySelector("canvas")?.focus({ preventScroll: true });
    this.view.element.scrollIntoView({ block: "nearest" });
  }

  private light(node: number | null): void {
    const spans = node === null ? [] : readSpans(this.parts.replay.tape.nodes.span[node]);
    this.parts.graph.dispatchEvent(new CustomEvent<Span[]>("uw-light", { detail: spans, bubbles: true }));
  }
}

async function loadCanvas(): Promise<typeof import("./whole")> {
  try {
    return await import("./whole");
  } catch {
    throw new Error("The canvas could not be loaded; the folds and the list of the tape show the same.");
  }
}
