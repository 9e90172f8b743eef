// Sliders for numbers in a measurement's code. Moving one rewrites its line; letting go runs the code.

import type { CellElement } from "./cell";
import { make } from "./dom";

/** An arrow key held down changes the slider many times; only the last value is measured. */
const PAUSE_MS = 400;
const WORDS = "Move a slider. The code runs when you let go, and earlier results stay in the chart.";

class SlidersElement extends HTMLElement {
  private waiting = 0;
  private readonly status = make("p", { class: "sliders-status", role: "status" });

  connectedCallback(): void {
    if (this.hasAttribute("data-awake")) return;
    this.toggleAttribute("data-awake", true);
    const words = this.querySelector(".sliders-words");
    if (words) words.textContent = WORDS;
    for (const label of this.querySelectorAll<HTMLElement>(".slider")) label.hidden = false;
    this.append(this.status);
    this.addEventListener("input", (event) => this.show(event.target as HTMLInputElement));
    this.addEventListener("change", () => this.settle());
    const measure = this.closest("uw-measure");
    measure?.addEventListener("uw-edited", () => this.read());
    measure?.addEventListener("uw-ran", () => this.ran());
    this.read();
  }

  private inputs(): HTMLInputElement[] {
    return [...this.querySelectorAll<HTMLInputElement>("input")];
  }

  private cell(): CellElement | null {
    return this.closest("uw-measure")?.querySelector<CellElement>("uw-cell") ?? null;
  }

  private code(): string {
    return this.cell()?.text() ?? this.closest("uw-measure")?.querySelector("textarea")?.value ?? "";
  }

  /** A number that the reader has typed moves its slider; a line that is not a plain number leaves it as it is. */
  private read(): void {
    const code = this.code();
    for (const input of this.inputs()) {
      const found = lineOf(input.name).exec(code);
      if (found) input.value = found[1] ?? input.value;
      this.show(input);
      input.disabled = !found;
    }
  }

  private show(input: HTMLInputElement): void {
    const value = input.parentElement?.querySelector(".slider-value");
    if (value) value.textContent = input.value;
  }

  private settle(): void {
    window.clearTimeout(this.waiting);
    this.waiting = window.setTimeout(() => this.write(), PAUSE_MS);
  }

  private write(): void {
    const cell = this.cell();
    if (!cell) return;
    const code = this.inputs().reduce((text, { name, value }) => text.replace(lineOf(name), `${name} = ${value}`), cell.text());
    if (code === cell.text()) return;
    cell.replaceText(code);
    this.say("measuring …");
    void cell.rerun();
  }

  private ran(): void {
    const failed = this.cell()?.hasAttribute("data-failed") ?? false;
    this.say(failed ? "the code stopped with an error; it is open below" : "measured");
    if (failed) this.closest("uw-measure")?.querySelector("details.measure-code")?.setAttribute("open", "");
  }

  private say(words: string): void {
    this.status.textContent = `${this.inputs().map(({ name, value }) => `${name} ${value}`).join(", ")}: ${words}.`;
  }
}

export const definitions = [["uw-sliders", SlidersElement]] as const;

function lineOf(name: string): RegExp {
  return new RegExp(`^${name} = (-?\\d+(?:\\.\\d+)?)$`, "m");
}
