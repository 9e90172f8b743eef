// A strip of layers with cuts that are dragged or moved with the arrow keys. Each move rewrites a list in the code of
// the measurement around it; releasing the cut runs that code.

import type { CellElement } from "./cell";
import { make } from "./dom";

const PAUSE_MS = 600;
const WORDS = "Drag a cut, or select it and use the arrow keys. Press between two layers to add a cut. The code runs when you let go.";
const KEYS: Record<string, number> = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: -Infinity, End: Infinity };

class CutsElement extends HTMLElement {
  private layers = 0;
  private places: number[] = [];
  private written = "";
  private chosen = -1;
  private waiting = 0;
  private strip!: HTMLElement;
  private handles: HTMLElement[] = [];
  private readonly status = make("p", { class: "cuts-status", role: "status" });
  private readonly dropper = button("Remove the cut", () => this.drop());

  connectedCallback(): void {
    const strip = this.querySelector<HTMLElement>(".cuts-strip");
    const field = this.field();
    if (!strip || !field || this.hasAttribute("data-awake")) return;
    this.toggleAttribute("data-awake", true);
    this.layers = Number(this.dataset["layers"]);
    this.strip = strip;
    strip.setAttribute("role", "group");
    strip.addEventListener("click", (event) => this.pressed(event));
    const words = this.querySelector(".cuts-words");
    if (words) words.textContent = WORDS;
    const bar = make("div", { class: "cuts-bar" });
    bar.append(button("Add a cut", () => this.halve()), this.dropper, button("Spread evenly", () => this.spread()));
    this.append(bar, this.status);
    const measure = this.closest("uw-measure");
    measure?.addEventListener("uw-edited", () => this.read(this.cell()?.text() ?? ""));
    measure?.addEventListener("uw-ran", () => this.ran());
    this.read(field.value);
  }

  private cell(): CellElement | null {
    return this.closest("uw-measure")?.querySelector<CellElement>("uw-cell") ?? null;
  }

  private field(): HTMLTextAreaElement | null {
    return this.closest("uw-measure")?.querySelector("textarea") ?? null;
  }

  private list(): RegExp {
    return new RegExp(`^${this.dataset["name"]} = \\[([\\d\\s,]*)\\]$`, "m");
  }

  /** Reads the cuts from the code; a list that does not describe cuts leaves the strip unchanged. */
  private read(code: string): void {
    const found = this.list().exec(code);
    if (!found) return this.say(`The code has no plain list ${this.dataset["name"]} now: reset it, and the strip works again.`);
    const places = (found[1] ?? "").split(",").map((part) => part.trim()).filter(Boolean).map(Number);
    const edges = [0, ...places, this.layers];
    if (edges.some((edge, index) => index > 0 && edge <= (edges[index - 1] ?? 0))) return;
    this.written = String(places);
    if (String(places) === String(this.places) && this.handles.length === places.length) return;
    this.places = places;
    this.draw();
  }

  private draw(): void {
    if (this.handles.length !== this.places.length) {
      for (const handle of this.handles) handle.remove();
      this.handles = this.places.map((_, index) => this.makeHandle(index));
      this.strip.append(...this.handles);
      this.chosen = Math.min(this.chosen, this.places.length - 1);
    }
    this.handles.forEach((handle, index) => this.place(handle, index));
    const starts = [0, ...this.places];
    [...this.strip.querySelectorAll(".cuts-layer")].forEach((layer, index) => {
      layer.classList.toggle("is-odd", starts.filter((start) => start <= index).length % 2 === 0);
    });
    this.strip.setAttribute("aria-label", `${this.layers} layers in ${this.sizes()}`);
    this.showChosen();
    this.say(`${this.sizes()}.`);
  }

  private place(handle: HTMLElement, index: number): void {
    const [low, high] = this.room(index);
    const at = this.places[index] ?? 0;
    handle.style.setProperty("left", `${(100 * at) / this.layers}%`);
    handle.setAttribute("aria-label", `Cut ${index + 1} of ${this.places.length}`);
    handle.setAttribute("aria-valuemin", String(low));
    handle.setAttribute("aria-valuemax", String(high));
    handle.setAttribute("aria-valuenow", String(at));
    handle.setAttribute("aria-valuetext", `after layer ${at}: ${at - low + 1} layers before it, ${high - at + 1} after it`);
  }

  /** Keeps a cut between its neighbours, so that no segment is empty. */
  private room(index: number): [low: number, high: number] {
    return [(this.places[index - 1] ?? 0) + 1, (this.places[index + 1] ?? this.layers) - 1];
  }

  private makeHandle(index: number): HTMLElement {
    const handle = make("span", { class: "cuts-handle", role: "slider", tabindex: "0", "aria-orientation": "horizontal" });
    handle.addEventListener("focus", () => this.choose(index));
    handle.addEventListener("keydown", (event) => this.keyed(event, index));
    handle.addEventListener("pointerdown", (event) => {
      handle.setPointerCapture(event.pointerId);
      handle.focus({ preventScroll: true });
      event.preventDefault();
    });
    handle.addEventListener("pointermove", (event) => {
      if (handle.hasPointerCapture(event.pointerId)) this.move(index, this.placeAt(event));
    });
    handle.addEventListener("lostpointercapture", () => this.settle(0));
    return handle;
  }

  private placeAt(event: MouseEvent): number {
    const box = this.strip.getBoundingClientRect();
    return Math.round(((event.clientX - box.left) / box.width) * this.layers);
  }

  private move(index: number, to: number): void {
    const [low, high] = this.room(index);
    this.places[index] = Math.min(Math.max(to, low), high);
    this.draw();
  }

  private keyed(event: KeyboardEvent, index: number): void {
    const by = KEYS[event.key];
    const drops = event.key === "Delete" || event.key === "Backspace";
    if ((by === undefined && !drops) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    // Keep the event from the page, whose arrow keys go to another chapter.
    event.stopPropagation();
    if (drops) return this.drop();
    this.move(index, (this.places[index] ?? 0) + (by ?? 0));
    this.settle(PAUSE_MS);
  }

  /** Adds a cut at a press between two layers. */
  private pressed(event: MouseEvent): void {
    if ((event.target as Element).closest(".cuts-handle")) return;
    this.add(this.placeAt(event));
  }

  private add(at: number): void {
    if (at < 1 || at >= this.layers || this.places.includes(at)) return;
    this.places = [...this.places, at].sort((one, other) => one - other);
    this.chosen = this.places.indexOf(at);
    this.draw();
    this.handles[this.chosen]?.focus({ preventScroll: true });
    this.settle(0);
  }

  /** Cuts the longest segment in the middle; among equals, the first. */
  private halve(): void {
    const edges = [0, ...this.places, this.layers];
    const longest = Math.max(...this.lengths());
    const start = edges.find((edge, index) => (edges[index + 1] ?? 0) - edge === longest) ?? 0;
    this.add(start + Math.floor(longest / 2));
  }

  private drop(): void {
    if (this.chosen < 0) return;
    this.places.splice(this.chosen, 1);
    this.draw();
    (this.handles[this.chosen] ?? this.dropper).focus({ preventScroll: true });
    this.settle(PAUSE_MS);
  }

  private spread(): void {
    const segments = this.places.length + 1;
    this.places = this.places.map((_, index) => Math.round(((index + 1) * this.layers) / segments));
    this.draw();
    this.settle(0);
  }

  private choose(index: number): void {
    this.chosen = index;
    this.showChosen();
  }

  private showChosen(): void {
    const at = this.places[this.chosen];
    this.handles.forEach((handle, index) => handle.classList.toggle("is-chosen", index === this.chosen));
    this.dropper.setAttribute("aria-disabled", String(at === undefined));
    this.dropper.textContent = at === undefined ? "Remove the cut" : `Remove the cut after ${at}`;
  }

  /** After a pause, writes the cuts into the code and runs it. */
  private settle(pause: number): void {
    window.clearTimeout(this.waiting);
    this.waiting = window.setTimeout(() => this.write(), pause);
  }

  private write(): void {
    const cell = this.cell();
    if (!cell || String(this.places) === this.written || !this.list().test(cell.text())) return;
    this.written = String(this.places);
    cell.replaceText(cell.text().replace(this.list(), `${this.dataset["name"]} = [${this.places.join(", ")}]`));
    this.say(`${this.sizes()}: measuring …`);
    void cell.rerun();
  }

  private ran(): void {
    const failed = this.cell()?.hasAttribute("data-failed") ?? false;
    this.say(failed ? "The code stopped with an error; it is open below." : `${this.sizes()}: ${this.measured()}.`);
    const code = this.closest("uw-measure")?.querySelector("details.measure-code");
    if (failed) code?.setAttribute("open", "");
  }

  /** The numbers of the newest row, each with the name of its column. */
  private measured(): string {
    const table = this.closest("uw-measure")?.querySelector("figure table");
    const names = [...(table?.querySelectorAll("thead th") ?? [])];
    const cells = [...(table?.querySelectorAll("tr.is-fresh > td") ?? [])].slice(-names.length);
    const numbers = cells.map((cell, column) => ({ cell, name: names[column] })).filter(({ name }) => name?.matches(".align-right"));
    return numbers.map(({ cell, name }) => `${name?.textContent} ${cell.firstChild?.textContent?.trim()}`).join(", ") || "measured";
  }

  private lengths(): number[] {
    const edges = [0, ...this.places, this.layers];
    return edges.slice(1).map((edge, index) => edge - (edges[index] ?? 0));
  }

  private sizes(): string {
    const lengths = this.lengths();
    return lengths.length === 1 ? "one segment" : `${lengths.length} segments of ${lengths.join(", ")}`;
  }

  private say(words: string): void {
    this.status.textContent = words;
  }
}

export const definitions = [["uw-cuts", CutsElement]] as const;

function button(words: string, act: () => void): HTMLButtonElement {
  const made = make("button", { type: "button", class: "button" }, words);
  made.addEventListener("click", act);
  return made;
}
