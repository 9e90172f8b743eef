// Review by keyboard: digits choose an answer, Enter sends it (with Ctrl or ⌘ from a text of several lines). Everything
// works without this script too, by Tab, Space and Enter.

import { joinGraph } from "./choosing";

const FIELDS = 'fieldset:not(.confidence) input:is([type="radio"], [type="checkbox"])';

export class ReviewElement extends HTMLElement {
  private readonly listen = (event: KeyboardEvent): void => this.press(event);

  connectedCallback(): void {
    document.addEventListener("keydown", this.listen);
    joinGraph(this, this.dataset["graph"]);
  }

  disconnectedCallback(): void {
    document.removeEventListener("keydown", this.listen);
  }

  private press(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.altKey) return;
    const isSure = event.ctrlKey || event.metaKey;
    if (event.key === "Enter" && (isSure || !(isTaken(event.target) || isButton(event.target)))) {
      event.preventDefault();
      this.querySelector("form")?.requestSubmit();
    }
    if (isSure || isTaken(event.target)) return;
    if (/^[1-9]$/.test(event.key) && this.choose(Number(event.key))) event.preventDefault();
  }

  private choose(place: number): boolean {
    const field = this.querySelectorAll<HTMLInputElement>(FIELDS)[place - 1];
    field?.click();
    field?.focus();
    return field !== undefined;
  }
}

/** Whether the element uses digits and Enter itself. */
function isTaken(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  return target.closest(".number-input, .text-input, textarea, select, uw-graph, dialog, [contenteditable]") !== null;
}

function isButton(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("button, a, summary") !== null;
}
