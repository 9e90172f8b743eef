// The tape as a list in step with the picture. If the tape is long, only the steps near the current one are listed.

import { make } from "./dom";
import type { TapeDocument } from "./player-tape";

const MOST = 400;
const HIDDEN = "hidden until you have predicted it";

export class TapeList {
  readonly element: HTMLDetailsElement;
  private readonly list: HTMLOListElement;
  private readonly note: HTMLElement;
  private from = -1;
  private taken = 0;
  private isHiding = false;

  constructor(
    private readonly tape: TapeDocument,
    private readonly go: (taken: number) => void,
  ) {
    const length = tape.steps.told.length;
    this.list = make("ol", { class: length > 999 ? "tape-list is-long" : "tape-list" });
    this.note = make("p", { class: "small-note tape-note" });
    this.element = make("details", { class: "player-panel tape-panel" });
    this.element.append(make("summary", {}, `The tape: ${length} ${length === 1 ? "step" : "steps"}`), this.list, this.note);
    this.element.addEventListener("toggle", () => this.show(this.taken));
    this.list.addEventListener("click", (event) => {
      const step = (event.target as Element).closest<HTMLElement>("[data-step]")?.dataset["step"];
      if (step) this.go(Number(step));
    });
    this.list.addEventListener("keydown", (event) => this.walk(event));
  }

  /** While the reader predicts, the texts of later backward steps are hidden. */
  hideAhead(hides: boolean): void {
    this.isHiding = hides;
    this.show(this.taken);
  }

  show(taken: number): void {
    this.taken = taken;
    if (!this.element.open) return;
    this.fill();
    const hadFocus = this.list.contains(document.activeElement);
    for (const old of this.list.querySelectorAll("[aria-current]")) {
      old.removeAttribute("aria-current");
      old.setAttribute("tabindex", "-1");
    }
    for (const row of this.list.querySelectorAll<HTMLElement>("[data-step]")) {
      const step = Number(row.dataset["step"]);
      row.parentElement?.classList.toggle("is-ahead", step > taken);
      const words = this.isHiding && step > taken && this.isBackward(step) ? HIDDEN : (this.tape.steps.told[step - 1] ?? "");
      if (row.textContent !== words) row.textContent = words;
    }
    const current = this.list.querySelector<HTMLElement>(`[data-step="${Math.max(taken, 1)}"]`);
    if (!current) return;
    current.setAttribute("tabindex", "0");
    if (taken > 0) current.setAttribute("aria-current", "step");
    if (hadFocus) current.focus({ preventScroll: true });
    keepInView(this.list, current);
  }

  private fill(): void {
    const length = this.tape.steps.told.length;
    const from = length <= MOST ? 0 : Math.min(Math.max(0, this.taken - MOST / 2), length - MOST);
    if (this.from >= 0 && (length <= MOST || Math.abs(from - this.from) < MOST / 4)) return;
    this.from = from;
    const to = Math.min(length, from + MOST);
    this.list.start = from + 1;
    this.list.replaceChildren(...this.tape.steps.told.slice(from, to).map((told, place) => this.row(from + place + 1, told)));
    this.note.textContent = to - from < length ? `Steps ${from + 1} to ${to} of ${length} are listed.` : "";
    this.note.hidden = to - from === length;
  }

  private kind(step: number): string {
    return this.tape.events.kind[this.tape.steps.main[step - 1] ?? 0] ?? "";
  }

  private isBackward(step: number): boolean {
    return this.kind(step) !== "record" && this.kind(step) !== "save";
  }

  private row(step: number, told: string): HTMLLIElement {
    const kind = this.kind(step);
    const button = make("button", { type: "button", "data-step": String(step), tabindex: "-1" }, told);
    return make("li", { class: `tape-${kind}` }, button);
  }

  private walk(event: KeyboardEvent): void {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.go(this.taken + by);
  }
}

/** Scrolls a box just far enough to show one of its rows; the page does not scroll. */
export function keepInView(box: HTMLElement, row: Element): void {
  const outer = box.getBoundingClientRect();
  const inner = row.getBoundingClientRect();
  if (inner.top < outer.top) box.scrollTop -= outer.top - inner.top + 8;
  else if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom + 8;
  if (inner.width > outer.width) return;
  if (inner.left < outer.left) box.scrollLeft -= outer.left - inner.left + 24;
  else if (inner.right > outer.right) box.scrollLeft += inner.right - outer.right + 24;
}
