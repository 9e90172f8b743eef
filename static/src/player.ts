// The tape player around a graph: it shows the recording step by step, then the backward pass. It works on the server's
// picture; without a tape, or without script, the picture stays as it is.

import { make } from "./dom";
import type { GraphElement } from "./graph";
import { PlayerBar } from "./player-bar";
import { offerCalls } from "./player-calls";
import { BytesPanel } from "./player-chart";
import { Colouring } from "./player-colour";
import { NodePanel } from "./player-details";
import { keepInView, TapeList } from "./player-list";
import { listHolders, listUnreached, searchNodes } from "./player-lists";
import { PlayedPicture } from "./player-picture";
import { Predictor } from "./player-predict";
import { Replay, type TapeDocument } from "./player-tape";
import { WholeDoor, type WholePlace } from "./player-whole";
import { readRefusal } from "./refusal";
import { readSpans, type Span } from "./spans";

export interface Played {
  svg: string;
  text: string;
  tape?: TapeDocument;
  /** The URL of the same picture with folds opened. */
  href?: string;
  /** A sentence on what the picture leaves out. */
  note?: string;
  /** The URL of its graph with nothing folded. */
  whole?: WholePlace;
}

export interface StepLight {
  spans: Span[];
  phase: "forward" | "backward";
}

const SLOWEST = 900;
const FASTEST = 70;
const WHOLE_MS = 45_000;
const DEEPEST = 12;

export class PlayerElement extends HTMLElement {
  private replay: Replay | null = null;
  private picture: PlayedPicture | null = null;
  private bar: PlayerBar | null = null;
  private status: HTMLElement | null = null;
  private node: NodePanel | null = null;
  private colouring: Colouring | null = null;
  private predictor: Predictor | null = null;
  private whole: WholeDoor | null = null;
  private panels: { show(taken: number): void }[] = [];
  private parts: HTMLElement[] = [];
  private line: HTMLElement | null = null;
  /** The nodes of the one backward call that is shown, or null for the whole graph. */
  private shown: ReadonlySet<number> | null = null;
  private timer = 0;
  private href = "";
  private opened = new Set<string>();

  connectedCallback(): void {
    this.addEventListener("keydown", (event) => this.key(event));
    this.addEventListener("click", (event) => void this.fold(event.target));
    this.addEventListener("uw-choose", (event) => this.point(Number((event as CustomEvent<string>).detail)));
    const kept = this.querySelector<HTMLScriptElement>(":scope > script[type='application/json']");
    const steps = this.dataset["steps"];
    if (steps) this.offerSteps(steps);
    if (kept?.textContent) this.wake(JSON.parse(kept.textContent) as TapeDocument, { href: this.dataset["graph"] ?? "" });
  }

  disconnectedCallback(): void {
    this.pause();
  }

  /** Keeps a picture of the course still until a reader asks for its tape. */
  private offerSteps(href: string): void {
    const button = make("button", { type: "button", class: "button button-quiet steps-door" }, "Step through it");
    button.addEventListener("click", () => void this.takeSteps(href, button));
    this.parts = [button];
    this.prepend(button);
  }

  private async takeSteps(href: string, button: HTMLButtonElement): Promise<void> {
    button.disabled = true;
    const answer = await fetch(href, { headers: { Accept: "application/json" } }).catch(() => null);
    button.disabled = false;
    if (!answer?.ok) {
      button.textContent = "Its tape could not be loaded; try again";
      return;
    }
    // The figure's caption already has the graph in words.
    this.play({ ...((await answer.json()) as Played), text: "" });
    this.querySelector<HTMLElement>(".player-button")?.focus({ preventScroll: true });
  }

  /** Shows a run's picture with its tape. */
  play(played: Played): void {
    this.clear();
    this.opened.clear();
    this.graph().show(played.svg, played.text);
    if (played.tape) this.wake(played.tape, played);
    if (!played.note) return;
    const note = make("p", { class: "small-note" }, played.note);
    this.parts.push(note);
    this.graph().after(note);
  }

  /** Shows a sentence instead of a picture. */
  say(sentence: string): void {
    this.clear();
    this.graph().say(sentence);
  }

  /** Goes to a step, counted from 1; 0 is before the first. */
  go(taken: number): void {
    const { replay, picture } = this;
    if (!replay || !picture) return;
    replay.go(taken);
    const now = picture.show(replay);
    const told = replay.tape.steps.told[replay.taken - 1] ?? "";
    this.bar?.show(replay.taken, told);
    for (const panel of this.panels) panel.show(replay.taken);
    if (this.status) this.status.textContent = told ? `Step ${replay.taken} of ${replay.length}: ${told}` : "Nothing is recorded yet.";
    const scroll = this.querySelector<HTMLElement>(".graph-scroll");
    if (scroll && now[0]) keepInView(scroll, now[0]);
    this.whole?.view?.show();
    this.light();
    this.dispatchEvent(new CustomEvent<Replay>("uw-moved", { detail: replay }));
  }

  private wake(tape: TapeDocument, { href, whole }: Pick<Played, "href" | "whole">): void {
    this.href = href ?? "";
    this.replay = new Replay(tape);
    this.node = new NodePanel(this.replay);
    this.colouring = new Colouring(tape, () => this.colour());
    if (whole) this.whole = this.door(whole, this.replay, this.colouring);
    if (tape.steps.main.length) return this.wakeSteps(tape, this.replay, this.node, this.colouring);
    // The graph is too large to send its tape: show the picture, its folds, and perhaps the button for the whole graph.
    this.parts = [this.node.element, ...(this.whole ? [this.whole.element] : [])];
    this.append(...this.parts);
    this.redraw();
  }

  private door(place: WholePlace, replay: Replay, colouring: Colouring): WholeDoor {
    return new WholeDoor(place, { graph: this.graph(), replay, colouring, choose: (node) => this.point(node) });
  }

  private wakeSteps(tape: TapeDocument, replay: Replay, node: NodePanel, colouring: Colouring): void {
    this.toggleAttribute("data-tape", true);
    const choose = (taken: number): void => this.choose(taken);
    const jump = (node: number): void => void this.jump(node);
    this.bar = new PlayerBar(replay.length, tape.calls, { go: choose, play: () => this.toggle() });
    this.status = make("p", { class: "player-status", "aria-live": "polite" });
    this.predictor = new Predictor(
      replay,
      (taken) => this.go(taken),
      (node) => this.picture?.find(node)?.dataset["fold"] === undefined,
      (predicts) => {
        list.hideAhead(predicts);
        for (const panel of bytes) panel.element.hidden = predicts;
      },
    );
    const list = new TapeList(tape, choose);
    // The reader's own engine saves nothing that could be counted.
    const bytes = tape.engine === "torch" ? [new BytesPanel(replay, choose)] : [];
    this.panels = [list, ...bytes, node];
    const tools = make("div", { class: "player-tools" }, searchNodes(tape, jump), colouring.element);
    const lists = [listHolders(tape, jump), listUnreached(tape, jump)].filter((part) => part !== null);
    const stair = bytes.map((panel) => panel.element);
    const door = this.whole ? [this.whole.element] : [];
    const runsBackward = tape.calls.some(([label]) => label !== "forward");
    const predict = runsBackward ? [this.predictor.element] : [];
    const calls = offerCalls(tape, { focus: (nodes, first) => this.focusOn(nodes, first) });
    this.line = make("p", { class: "player-line", hidden: "" });
    const above = [this.bar.element, this.status, this.line, ...predict, ...(calls ? [calls] : [])];
    const below = [...door, node.element, list.element, ...stair, ...lists, tools];
    const aside = this.aside(list.element, ...stair);
    this.parts = [...above, ...below, ...(aside ? [aside] : [])];
    this.prepend(...above);
    this.append(...below.filter((part) => part.parentElement !== aside || !aside));
    this.redraw();
    this.rest(replay);
  }

  /** At first shows the whole graph as the server drew it; stepping starts after the recording. */
  private rest(replay: Replay): void {
    const { start } = replay.tape;
    replay.go(start);
    this.bar?.show(start, "the graph is recorded");
    for (const panel of this.panels) panel.show(start);
    const left = replay.length - start;
    const next = left ? `Step forward through the other ${left}, or back through the recording.` : "Step back through it.";
    if (this.status) this.status.textContent = `The graph was recorded in ${start} of ${replay.length} steps. ${next}`;
  }

  /** If there is room under the code, puts the tape there, open. */
  private aside(...panels: HTMLDetailsElement[]): HTMLElement | null {
    const side = this.closest(".cell-body")?.querySelector(".cell-side");
    if (!side || side.getBoundingClientRect().right > this.getBoundingClientRect().left + 1) return null;
    const aside = make("div", { class: "player-aside" }, ...panels);
    aside.addEventListener("keydown", (event) => this.key(event));
    side.append(aside);
    for (const panel of panels) if (panel.classList.contains("tape-panel")) panel.open = true;
    return aside;
  }

  private redraw(): void {
    const svg = this.querySelector<SVGSVGElement>("svg.graph-picture");
    if (!svg || !this.replay) return;
    this.picture = new PlayedPicture(svg, this.replay);
    if (this.shown) this.alone(this.shown);
    this.whole?.offer(svg.querySelector("g.node[data-fold]") !== null);
    this.colour();
  }

  private colour(): void {
    const { colouring } = this;
    if (this.picture) colouring?.show(this.picture.svg);
    if (colouring) this.whole?.view?.colour((boxes) => colouring.paint(boxes));
  }

  private clear(): void {
    this.pause();
    this.whole?.close();
    for (const part of this.parts) part.remove();
    this.toggleAttribute("data-tape", false);
    this.replay = this.picture = this.bar = this.status = this.node = this.colouring = this.predictor = this.whole = null;
    this.panels = this.parts = [];
    this.line = this.shown = null;
  }

  private focusOn(nodes: ReadonlySet<number> | null, first: number | null): void {
    this.shown = nodes;
    this.alone(nodes);
    if (first !== null) this.choose(first);
  }

  /** The picture has another size with only some of its nodes. */
  private alone(nodes: ReadonlySet<number> | null): void {
    this.picture?.focus(nodes);
    this.graph().offerSizes();
  }

  /** Shows a node's details, its box and its place in the code; opens the folds around it first. */
  private async jump(node: number): Promise<void> {
    if (!this.picture || !this.replay) return;
    if (this.whole?.view?.find(node)) {
      this.node?.choose(node);
      return;
    }
    // A leaf inside a closed fold has no box, so the fold around its user is opened instead.
    const user = this.replay.user(node);
    const find = (): SVGGElement | null => this.picture?.find(node) ?? this.picture?.find(user) ?? null;
    for (let depth = 0; depth < DEEPEST; depth += 1) {
      const key = find()?.dataset["fold"];
      if (!key || !(await this.open(key))) break;
    }
    const box = find();
    this.node?.choose(node);
    box?.focus({ preventScroll: true });
    const scroll = this.querySelector<HTMLElement>(".graph-scroll");
    if (box && scroll) keepInView(scroll, box);
  }

  /** A step by the reader: it stops playing, and waits for a prediction if one was asked for. */
  private choose(taken: number): void {
    this.pause();
    if (this.predictor?.holds(taken)) return;
    this.predictor?.withdraw();
    this.go(taken);
  }

  private point(node: number): void {
    if (!this.predictor?.answerNode(node)) this.node?.choose(node);
  }

  private light(): void {
    const { replay } = this;
    if (!replay) return;
    const node = replay.taken > 0 ? replay.tape.steps.node[replay.taken - 1] : null;
    const spans = typeof node === "number" ? readSpans(replay.tape.nodes.span[node]) : [];
    const phase = replay.kind === "record" ? "forward" : "backward";
    if (this.dataset["steps"]) this.graph().lightCode(spans);
    this.showLine(spans[0], phase);
    this.dispatchEvent(new CustomEvent<StepLight>("uw-step", { detail: { spans, phase }, bubbles: true }));
  }

  /** Shows the running line over the picture, because code above the picture may be out of sight. */
  private showLine(span: Span | undefined, phase: string): void {
    if (!this.line) return;
    const listing = this.closest("figure")?.querySelector<HTMLElement>("pre[data-source]")?.dataset["source"];
    const code = listing ?? this.closest("uw-cell")?.querySelector("textarea")?.value ?? "";
    const text = span ? (code.split("\n")[span.line - 1] ?? "").trim() : "";
    this.line.hidden = !text;
    this.line.dataset["phase"] = phase;
    this.line.replaceChildren(make("span", { class: "line-number" }, `L${span?.line ?? ""}`), make("code", {}, text));
  }

  private toggle(): void {
    if (this.timer) return this.pause();
    const { replay } = this;
    if (!replay) return;
    if (replay.taken >= replay.length) this.go(0);
    this.bar?.playing(true);
    // A screen reader could not keep up with the steps, so it does not announce them while playing.
    this.status?.setAttribute("aria-live", "off");
    const pace = Math.max(FASTEST, Math.min(SLOWEST, WHOLE_MS / replay.length));
    this.timer = window.setInterval(() => {
      if (this.predictor?.holds(replay.taken + 1)) return this.pause();
      this.go(replay.taken + 1);
      if (replay.taken >= replay.length) this.pause();
    }, pace);
  }

  private pause(): void {
    window.clearInterval(this.timer);
    this.timer = 0;
    this.bar?.playing(false);
    this.status?.setAttribute("aria-live", "polite");
  }

  private key(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !this.replay?.length) return;
    const target = event.target as Element;
    if (target.matches(".frame[data-fold]") && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      void this.fold(target);
      return;
    }
    if (target.closest("input:not([type='range']), select, textarea, .matrix-frame")) return;
    const taken = { ArrowRight: this.replay.taken + 1, ArrowLeft: this.replay.taken - 1, Home: 0, End: this.replay.length }[event.key];
    if (taken !== undefined) {
      event.preventDefault();
      return this.choose(taken);
    }
    if (event.key !== " " || target.closest("button, summary, [role='button']")) return;
    event.preventDefault();
    this.toggle();
  }

  /** On a click on a closed fold, or on an open fold's sign, requests the picture again; the step stays. */
  private async fold(target: EventTarget | null): Promise<void> {
    const group = target instanceof Element ? target.closest<SVGGElement>("[data-fold]") : null;
    const key = group?.dataset["fold"];
    if (!key || !(await this.open(key))) return;
    const again = this.querySelector<SVGGElement>(`[data-fold="${CSS.escape(key)}"]`) ?? this.firstNode();
    again?.focus({ preventScroll: true });
  }

  /** Opens a fold, or closes it; false if the server refuses to draw it. */
  private async open(key: string): Promise<boolean> {
    if (!this.href) return false;
    const opened = new Set(this.opened);
    if (!opened.delete(key)) opened.add(key);
    const query = new URLSearchParams([...opened].map((fold) => ["opened", fold]));
    const answer = await fetch(`${this.href}?${query}`, { headers: { Accept: "application/json" } }).catch(() => null);
    if (!answer?.ok) {
      const gone = "The picture is no longer kept; run the code again, then open it.";
      if (this.status) this.status.textContent = await readRefusal(answer, gone);
      return false;
    }
    this.opened = opened;
    const { svg, text } = (await answer.json()) as Played;
    const isStepping = this.picture?.svg.classList.contains("is-stepping");
    this.graph().show(svg, text);
    this.redraw();
    if (isStepping) this.go(this.replay?.taken ?? 0);
    this.explainClosed(key);
    return true;
  }

  /** Says why a fold stayed closed: the picture already has the most boxes allowed. */
  private explainClosed(key: string): void {
    if (!this.opened.has(key) || !this.querySelector(`g.node[data-fold="${CSS.escape(key)}"]`)) return;
    this.opened.delete(key);
    const other = this.whole?.isOpenable ? " Open all of it below, or close another fold first." : " Close another fold first.";
    if (this.status) this.status.textContent = `The picture has as many boxes as it can hold, so this fold stays closed.${other}`;
  }

  private firstNode(): SVGGElement | null {
    return this.querySelector<SVGGElement>("g.node[data-node]");
  }

  private graph(): GraphElement {
    const graph = this.querySelector<GraphElement>("uw-graph");
    if (!graph) throw new Error("uw-player lacks uw-graph");
    return graph;
  }
}
