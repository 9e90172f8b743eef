// The picture follows the typing: after a pause the code runs behind everybody else's, and only what went well is shown.

import { postForEvents } from "./stream";
import type { Played } from "./player";
import type { Mistake, OutputPiece, RunDone } from "./wire";

export const PAUSE_MS = 400;
const KEY = "unwind-live";
const PHONE = "(width < 48rem)";
const TOO_SLOW = new Set(["cpu_limit", "wall_limit", "memory_limit"]);

/** What a run gave: what it printed, its picture, and how it ended. */
export interface TypedRun {
  id: string;
  printed: OutputPiece[];
  played: Played | null;
  end: RunDone;
}

export interface TypedHost {
  /** Whether the text could be a program, so that running it is worthwhile. */
  isWhole(): boolean;
  /** The line that is being written, from 1; 0 if the cursor is elsewhere. */
  caretLine(): number;
  /** Whether the reader's own run goes on. */
  isBusy(): boolean;
  /** Whether a picture would give away what the reader has still to predict. */
  asksFirst(): boolean;
  request(): Record<string, unknown>;
  showTyped(run: TypedRun): void;
  /** The picture is of earlier code; `words` say why. */
  fallBehind(words: string): void;
}

/** The choice on this page, which a browser may forbid to store. */
let choice: string | null = null;

/** Whether readers want it: on, but off on phones, until they choose. The choice is for every cell of the site. */
export function wantsTyped(): boolean {
  const kept = choice ?? readChoice();
  return kept === null ? !matchMedia(PHONE).matches : kept === "on";
}

function readChoice(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function keepChoice(words: string): void {
  choice = words;
  try {
    localStorage.setItem(KEY, words);
  } catch {
    // It holds for this page then.
  }
}

export class TypedRuns {
  private pausing = 0;
  private running: AbortController | null = null;
  private id = "";

  constructor(private readonly host: TypedHost) {}

  /** A box that switches it on and off. */
  makeSwitch(): HTMLLabelElement {
    const label = document.createElement("label");
    label.className = "check typed-switch";
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = wantsTyped();
    box.addEventListener("change", () => {
      keepChoice(box.checked ? "on" : "off");
      for (const other of document.querySelectorAll<HTMLInputElement>(".typed-switch input")) other.checked = box.checked;
      if (box.checked) this.changed();
      else this.stop();
    });
    label.append(box, " Redraw as I type");
    return label;
  }

  changed(): void {
    this.stop();
    if (wantsTyped()) this.pausing = window.setTimeout(() => void this.run(), PAUSE_MS);
  }

  stop(): void {
    window.clearTimeout(this.pausing);
    if (!this.running) return;
    if (this.id) void fetch(`/api/runs/${this.id}/stop`, { method: "POST" }).catch(() => null);
    this.running.abort();
    this.running = null;
  }

  private async run(): Promise<void> {
    if (this.host.isBusy()) return;
    if (this.host.asksFirst()) return this.host.fallBehind("Predict first; then the picture follows your typing.");
    if (!this.host.isWhole()) return this.host.fallBehind("Waiting for a whole line …");
    const mine = new AbortController();
    this.running = mine;
    try {
      const run = await this.follow(mine);
      if (this.running === mine && run) this.tell(run);
    } catch {
      if (this.running === mine) this.host.fallBehind("The picture cannot follow just now. Press Run.");
    } finally {
      if (this.running === mine) this.running = null;
    }
  }

  private async follow(mine: AbortController): Promise<TypedRun | null> {
    const printed: OutputPiece[] = [];
    let played: Played | null = null;
    this.id = "";
    for await (const event of postForEvents("/api/runs", { ...this.host.request(), as_typed: true }, mine.signal)) {
      if (event.kind === "accepted") this.id = (event.data as { id: string }).id;
      else if (event.kind === "output") printed.push(event.data as OutputPiece);
      else if (event.kind === "trace") played = event.data as Played;
      else if (event.kind === "done") return { id: this.id, printed, played, end: event.data as RunDone };
    }
    return null;
  }

  private tell(run: TypedRun): void {
    const { outcome, mistake } = run.end;
    if (outcome === "ok") return this.host.showTyped(run);
    if (mistake) return this.host.fallBehind(this.wordsFor(mistake));
    if (TOO_SLOW.has(outcome)) return this.host.fallBehind("This takes too long to follow your typing. Press Run.");
    this.host.fallBehind("The picture is of the code before.");
  }

  /** A line that is being written is not told off. */
  private wordsFor({ type, line }: Mistake): string {
    if (line === null || line === this.host.caretLine()) return "Waiting for a whole line …";
    return `The picture is of the code before: line ${line} raises ${type}.`;
  }
}
