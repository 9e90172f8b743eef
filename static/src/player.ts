// The tape player around a graph: recording step by step, then unwinding. It adds to the server's picture; without
// a tape, or without script, the picture stands as it is.

import { make } from "./dom";
import type { GraphElement } from "./graph";
import { PlayerBar } from "./player-bar";
import { keepInView, TapeList } from "./player-list";
import { PlayedPicture } from "./player-picture";
import { Replay, type TapeDocument } from "./player-tape";
import { readSpans, type Span } from "./spans";

export interface Played {
  svg: string;
  text: string;
  tape?: TapeDocument;
  /** Where the same picture is had with folds opened. */
  href?: string;
}

export interface StepLight {
  spans: Span[];
  phase: "forward" | "backward";
}

const SLOWEST = 900;
const FASTEST = 70;
const WHOLE_MS = 45_000;

export class PlayerElement extends HTMLElement {
  private replay: Replay | null = null;
  private picture: PlayedPicture | null = null;
  private bar: PlayerBar | null = null;
  private list: TapeList | null = null;
  private status: HTMLElement | null = null;
  private timer = 0;
  private href = "";
  private opened = new Set<string>();

  connectedCallback(): void {
    this.addEventListener("keydown", (event) => this.key(event));
    this.addEventListener("click", (event) => void this.fold(event.target));
    const kept = this.querySelector<HTMLScriptElement>(":scope > script[type='application/json']");
    if (kept?.textContent) this.wake(JSON.parse(kept.textContent) as TapeDocument, this.dataset["graph"] ?? "");
  }

  disconnectedCallback(): void {
    this.pause();
  }

  /** Shows a run's picture with its tape. */
  play(played: Played): void {
    this.clear();
    this.opened.clear();
    this.graph().show(played.svg, played.text);
    if (played.tape) this.wake(played.tape, played.href ?? "");
  }

  /** Shows a sentence where a picture would stand. */
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
    this.list?.show(replay.taken);
    if (this.status) this.status.textContent = told ? `Step ${replay.taken} of ${replay.length}: ${told}` : "Nothing is recorded yet.";
    const scroll = this.querySelector<HTMLElement>(".graph-scroll");
    if (scroll && now[0]) keepInView(scroll, now[0]);
    this.light();
    this.dispatchEvent(new CustomEvent<Replay>("uw-moved", { detail: replay }));
  }

  private wake(tape: TapeDocument, href: string): void {
    this.href = href;
    if (!tape.steps.main.length) return;
    this.toggleAttribute("data-tape", true);
    this.replay = new Replay(tape);
    this.bar = new PlayerBar(this.replay.length, tape.calls, { go: (taken) => this.choose(taken), play: () => this.toggle() });
    this.status = make("p", { class: "player-status", "aria-live": "polite" });
    this.list = new TapeList(tape, (taken) => this.choose(taken));
    this.prepend(this.bar.element, this.status);
    this.append(this.list.element);
    this.redraw();
    this.replay.go(tape.start);
    this.go(tape.start);
  }

  private redraw(): void {
    const svg = this.querySelector<SVGSVGElement>("svg.graph-picture");
    if (svg && this.replay) this.picture = new PlayedPicture(svg, this.replay);
  }

  private clear(): void {
    this.pause();
    for (const part of [this.bar?.element, this.status, this.list?.element]) part?.remove();
    this.toggleAttribute("data-tape", false);
    this.replay = this.picture = this.bar = this.list = this.status = null;
  }

  private choose(taken: number): void {
    this.pause();
    this.go(taken);
  }

  private light(): void {
    const { replay } = this;
    if (!replay) return;
    const node = replay.taken > 0 ? replay.tape.steps.node[replay.taken - 1] : null;
    const spans = typeof node === "number" ? readSpans(replay.tape.nodes.span[node]) : [];
    const phase = replay.kind === "record" ? "forward" : "backward";
    this.dispatchEvent(new CustomEvent<StepLight>("uw-step", { detail: { spans, phase }, bubbles: true }));
  }

  private toggle(): void {
    if (this.timer) return this.pause();
    const { replay } = this;
    if (!replay) return;
    if (replay.taken >= replay.length) this.go(0);
    this.bar?.playing(true);
    const pace = Math.max(FASTEST, Math.min(SLOWEST, WHOLE_MS / replay.length));
    this.timer = window.setInterval(() => {
      this.go(replay.taken + 1);
      if (replay.taken >= replay.length) this.pause();
    }, pace);
  }

  private pause(): void {
    window.clearInterval(this.timer);
    this.timer = 0;
    this.bar?.playing(false);
  }

  private key(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !this.replay) return;
    const target = event.target as Element;
    if (target.matches(".frame[data-fold]") && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      void this.fold(target);
      return;
    }
    if (target.closest("input:not([type='range']), select, textarea")) return;
    const taken = { ArrowRight: this.replay.taken + 1, ArrowLeft: this.replay.taken - 1, Home: 0, End: this.replay.length }[event.key];
    if (taken !== undefined) {
      event.preventDefault();
      return this.choose(taken);
    }
    if (event.key !== " " || target.closest("button, summary, [role='button']")) return;
    event.preventDefault();
    this.toggle();
  }

  /** A click on a closed fold or on an opened one's sign asks the server for the picture again; the step stays. */
  private async fold(target: EventTarget | null): Promise<void> {
    const group = target instanceof Element ? target.closest<SVGGElement>("[data-fold]") : null;
    const key = group?.dataset["fold"];
    if (!key || !this.href) return;
    if (this.opened.has(key)) this.opened.delete(key);
    else this.opened.add(key);
    const query = new URLSearchParams([...this.opened].map((opened) => ["opened", opened]));
    const answer = await fetch(`${this.href}?${query}`, { headers: { Accept: "application/json" } }).catch(() => null);
    if (!answer?.ok) return;
    const { svg, text } = (await answer.json()) as Played;
    this.graph().show(svg, text);
    this.redraw();
    this.go(this.replay?.taken ?? 0);
    const again = this.querySelector<SVGGElement>(`[data-fold="${CSS.escape(key)}"]`) ?? this.firstNode();
    again?.focus();
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
