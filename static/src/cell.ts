// A cell: edit, run, stop, reset. The code's output streams in as text; its graph and its errors follow.

import { Draft } from "./drafts";
import { renew } from "./fragment";
import type { GraphElement } from "./graph";
import { OutputPane } from "./output";
import { GrowingPad, type Pad, type PadEvents } from "./pad";
import type { Played, PlayerElement, StepLight } from "./player";
import { summarise } from "./settled";
import type { Span } from "./spans";
import { NO_GRADER, postForEvents, Refusal, type ServerEvent } from "./stream";
import { type TypedRun, TypedRuns } from "./typed";
import type { OutputPiece, RunDone } from "./wire";

export class CellElement extends HTMLElement {
  private pad!: Pad;
  private output!: OutputPane;
  private draft: Draft | null = null;
  private running: AbortController | null = null;
  private runId = "";
  private beforeReset: string | null = null;
  private warned = false;
  /** Whether a run has shown what the cell's predictions ask, though one may be open. */
  private hasShown = false;
  /** The code of the newest run that the reader asked for. */
  private ran = "";
  private typed: TypedRuns | null = null;
  private ended: Promise<void> = Promise.resolve();
  private stepped: StepLight = { spans: [], phase: "forward" };

  connectedCallback(): void {
    const field = this.find<HTMLTextAreaElement>("textarea");
    this.output = new OutputPane(this.find<HTMLElement>(".cell-output"));
    this.pad = new GrowingPad(field, this.events());
    const place = this.dataset["draft"];
    if (place && !field.readOnly) this.takeUpDraft(new Draft(place, field.form, field.defaultValue));
    this.find<HTMLFormElement>("form").addEventListener("submit", (event) => {
      event.preventDefault();
      void this.run();
    });
    this.button("stop")?.addEventListener("click", () => void this.stop());
    this.button("reset")?.addEventListener("click", () => this.reset());
    this.addEventListener("uw-light", (event) => this.light((event as CustomEvent<Span[]>).detail));
    this.addEventListener("uw-step", (event) => this.follow((event as CustomEvent<StepLight>).detail));
    this.offerReset();
    this.offerTyped(field);
  }

  /** Offers a picture that follows the typing, where there is a picture and something to type. */
  private offerTyped(field: HTMLTextAreaElement): void {
    if (field.readOnly || !this.button("run") || !this.hasAttribute("data-wants-graph")) return;
    this.typed = new TypedRuns({
      isWhole: () => this.pad.isWhole(),
      caretLine: () => this.pad.caretLine(),
      isBusy: () => this.running !== null,
      asksFirst: () => !this.hasShown && this.openPrediction() !== null,
      request: () => this.request(),
      showTyped: (run) => this.showTyped(run),
      fallBehind: (words) => this.fallBehind(words),
    });
    this.find(".pad-bar").append(this.typed.makeSwitch());
  }

  private showTyped({ id, printed, played, end }: TypedRun): void {
    this.runId = id;
    this.output.clear();
    for (const piece of printed) this.output.print(piece);
    this.querySelectorAll(".settled").forEach((old) => old.remove());
    this.toggleAttribute("data-failed", false);
    this.toggleAttribute("data-behind", false);
    if (played) this.player()?.play(played);
    else if (end.trace_note) this.player()?.say(end.trace_note);
    this.output.end(end);
    this.show("Drawn as typed.");
    this.dispatchEvent(new CustomEvent<string>("uw-ran", { detail: id, bubbles: true }));
    this.runId = "";
  }

  private fallBehind(words: string): void {
    this.toggleAttribute("data-behind", true);
    this.show(words);
  }

  private events(): PadEvents {
    return {
      changed: () => this.changed(),
      run: () => void this.run(),
      runAndGoOn: () => void this.run().then(() => this.goOn()),
      pointed: (place) => this.graph()?.lightAt(place),
    };
  }

  /** Keeps the player's step marked in the code; while the pointer is on something, that is marked instead. */
  private follow(step: StepLight): void {
    this.stepped = step;
    this.light([]);
  }

  private light(pointed: readonly Span[]): void {
    const phase = pointed.length ? "" : this.stepped.phase;
    this.dataset["phase"] = phase;
    this.pad.light(pointed.length ? pointed : this.stepped.spans, pointed.length === 0);
  }

  private takeUpDraft(draft: Draft): void {
    this.draft = draft;
    const left = draft.left();
    if (left !== null && left !== this.pad.text()) this.pad.replace(left);
  }

  private changed(): void {
    this.pad.clearMarks();
    this.follow({ spans: [], phase: "forward" });
    this.beforeReset = null;
    this.draft?.keep(this.pad.text());
    this.offerReset();
    this.dispatchEvent(new CustomEvent("uw-edited", { bubbles: true }));
    this.typed?.changed();
  }

  text(): string {
    return this.pad.text();
  }

  replaceText(text: string): void {
    this.pad.replace(text);
  }

  /** Runs the current code; a run of older code is stopped. */
  async rerun(): Promise<void> {
    const older = this.running;
    if (older) {
      if (this.runId) void fetch(`/api/runs/${this.runId}/stop`, { method: "POST" }).catch(() => null);
      older.abort();
      await this.ended;
    }
    await this.run();
  }

  /** The course's own code. */
  private starter(): string {
    return this.find<HTMLTextAreaElement>("textarea").dataset["starter"] ?? "";
  }

  private offerReset(): void {
    const reset = this.button("reset");
    if (!reset) return;
    reset.hidden = this.beforeReset === null && this.pad.text().trimEnd() === this.starter().trimEnd();
    reset.textContent = this.beforeReset === null ? "Reset" : "Undo reset";
  }

  private reset(): void {
    const before = this.pad.text();
    const undone = this.beforeReset;
    this.pad.replace(undone ?? this.starter());
    this.beforeReset = undone === null ? before : null;
    this.offerReset();
  }

  private run(): Promise<void> {
    if (this.running || this.asksForPrediction()) return Promise.resolve();
    this.typed?.stop();
    this.ended = this.runNow();
    return this.ended;
  }

  private async runNow(): Promise<void> {
    const abort = new AbortController();
    this.ran = this.pad.text();
    this.running = abort;
    this.show("Starting …");
    this.output.clear();
    this.querySelectorAll(".settled").forEach((old) => old.remove());
    this.pad.clearMarks();
    this.toggleAttribute("data-failed", false);
    this.toggleAttribute("data-behind", false);
    this.toggleAttribute("data-running", true);
    this.buttons(true);
    try {
      for await (const event of postForEvents("/api/runs", this.request(), abort.signal)) this.take(event);
    } catch (problem) {
      this.show(abort.signal.aborted ? "Stopped." : wordsFor(problem));
    } finally {
      this.running = null;
      this.runId = "";
      this.toggleAttribute("data-running", false);
      this.buttons(false);
      // What was typed meanwhile waited for the run's end.
      if (this.pad.text() !== this.ran) this.typed?.changed();
    }
  }

  /** Warns once if a prediction that this run settles is still open; the reader may run anyway. */
  private asksForPrediction(): boolean {
    const open = this.warned ? null : this.openPrediction();
    if (!open) return false;
    this.warned = true;
    this.show("This run settles a prediction that you have not made. Run again to skip it.");
    open.scrollIntoView({ block: "center" });
    open.querySelector<HTMLElement>("input")?.focus({ preventScroll: true });
    return true;
  }

  private openPrediction(): HTMLElement | null {
    const predictions = (this.dataset["predicts"] ?? "").split(" ").filter(Boolean).map(predictionOf);
    return predictions.find((element) => element?.classList.contains("is-open")) ?? null;
  }

  private request(): Record<string, unknown> {
    const { chapter, cell, flavour } = this.dataset;
    const wants = this.hasAttribute("data-wants-graph");
    const switches = this.switches();
    return { source: this.pad.text(), flavour, trace: wants, ...(chapter ? { chapter, cell } : {}), ...(switches ? { switches } : {}) };
  }

  /** The switches that are on, if the cell has any. */
  private switches(): string[] | null {
    const boxes = [...this.querySelectorAll<HTMLInputElement>('input[name="switch"]')];
    return boxes.length ? boxes.filter((box) => box.checked).map((box) => box.value) : null;
  }

  private take(event: ServerEvent): void {
    switch (event.kind) {
      case "accepted":
        this.runId = (event.data as { id: string }).id;
        return this.show("Running …");
      case "queued":
        return this.queued(event.data as { ahead: number; served: boolean });
      case "output":
        return this.output.print(event.data as OutputPiece);
      case "trace":
        return this.player()?.play(event.data as Played);
      case "done":
        return this.done(event.data as RunDone);
    }
  }

  private queued({ ahead, served }: { ahead: number; served: boolean }): void {
    if (!served) return this.show(NO_GRADER);
    this.show(ahead > 0 ? `Waiting: ${ahead} before yours` : "Running …");
  }

  private done(end: RunDone): void {
    const { mistake } = end;
    // The course's own code may fail on purpose; any other error shows nothing of what a prediction asks.
    if (end.outcome === "ok" || this.ran.trim() === this.starter().trim()) this.hasShown = true;
    this.output.end(end);
    if (mistake?.line) this.pad.markLine(mistake.line, `${mistake.type}: ${mistake.message}`);
    this.toggleAttribute("data-failed", end.outcome !== "ok");
    const settled = Object.entries(end.resolved ?? {}).flatMap(([id, html]) => settle(id, html) ?? []);
    (this.querySelector(".output-note") ?? this.find(".cell-output")).after(...settled.map(summarise));
    const took = end.measures?.find((measure) => measure.name.startsWith("wall"));
    const time = took ? ` in ${readable(took.value, took.unit)}` : "";
    const words = end.outcome === "ok" ? `Ran${time}.` : howItEnded(end);
    this.show(settled.length ? `${words} Your prediction is settled below.` : words);
    if (end.measured) {
      // The printed table is now shown above.
      this.output.clear();
      this.dispatchEvent(new CustomEvent("uw-measured", { bubbles: true, detail: end.measured }));
    }
    this.dispatchEvent(new CustomEvent<string>("uw-ran", { detail: this.runId, bubbles: true }));
    if (end.trace_note) this.player()?.say(end.trace_note);
  }

  private async stop(): Promise<void> {
    const running = this.running;
    if (this.runId) await fetch(`/api/runs/${this.runId}/stop`, { method: "POST" }).catch(() => null);
    // The stream reports the end; if the server stays silent, the page stops listening after a second.
    setTimeout(() => running?.abort(), 1000);
  }

  private goOn(): void {
    const cells = [...document.querySelectorAll<CellElement>("uw-cell")];
    const following = cells[cells.indexOf(this) + 1];
    following?.scrollIntoView({ block: "nearest" });
    following?.pad.focus();
  }

  private show(words: string): void {
    this.find("[data-state]").textContent = words;
  }

  private buttons(running: boolean): void {
    const stop = this.button("stop");
    const run = this.button("run");
    // Not `disabled`, which would remove the keyboard's focus. A button that disappears hands its focus on.
    run?.setAttribute("aria-disabled", String(running));
    if (!stop) return;
    if (!running && document.activeElement === stop) run?.focus();
    stop.hidden = !running;
  }

  private graph(): GraphElement | null {
    return this.querySelector<GraphElement>("uw-graph");
  }

  private player(): PlayerElement | null {
    return this.querySelector<PlayerElement>("uw-player");
  }

  private button(name: string): HTMLButtonElement | null {
    return this.querySelector<HTMLButtonElement>(`button[data-${name}]`);
  }

  private find<Part extends HTMLElement>(selector: string): Part {
    const part = this.querySelector<Part>(selector);
    if (!part) throw new Error(`uw-cell lacks ${selector}`);
    return part;
  }
}

/** How the run ended, in a few words; the full error message is below. */
function howItEnded({ mistake, finding, headline, outcome }: RunDone): string {
  if (mistake) return mistake.line ? `${mistake.type} on line ${mistake.line}.` : `${mistake.type}.`;
  return finding?.short ?? headline ?? outcome.replaceAll("_", " ");
}

function predictionOf(id: string): HTMLElement | null {
  return document.querySelector<HTMLElement>(`uw-predict[data-predict="${CSS.escape(id)}"]`);
}

/** Fetches the prediction's card as it is after the run. */
function settle(id: string, html: string): HTMLElement | null {
  const old = predictionOf(id);
  return old && renew(old, html);
}

function readable(value: number, unit: string): string {
  if (unit === "s" || unit === "seconds") return value < 1 ? `${Math.round(value * 1000)} ms` : `${value.toFixed(1)} s`;
  return `${Math.round(value)} ${unit}`;
}

function wordsFor(problem: unknown): string {
  return problem instanceof Refusal ? problem.message : "Not run: the server cannot be reached. Your code is kept; try again.";
}
