// The field for code: a plain textarea at first, an editor once it comes near the window.

import type { Span } from "./spans";
import { addSymbols } from "./symbols";

export interface Pad {
  text(): string;
  replace(text: string): void;
  insert(text: string): void;
  focus(): void;
  markLine(line: number, note: string): void;
  clearMarks(): void;
  /** Whether the text parses; where nothing can tell, it is taken to. */
  isWhole(): boolean;
  /** The line of the cursor, from 1; 0 while the cursor is elsewhere. */
  caretLine(): number;
  /** Marks places in the code; `follows` also scrolls the pad, but never the page, to the first of them. */
  light(spans: readonly Span[], follows: boolean): void;
}

export interface PadEvents {
  changed(): void;
  run(): void;
  runAndGoOn(): void;
  /** Submits, if the page has something to submit. */
  submit?(): void;
  /** The cursor or the pointer is at a place in the code, or has left it (null). */
  pointed(place: { line: number; column: number } | null): void;
}

const NEAR = "300px";

class TextPad implements Pad {
  constructor(
    readonly field: HTMLTextAreaElement,
    events: PadEvents,
  ) {
    field.addEventListener("input", () => events.changed());
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.shiftKey || event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      if (event.shiftKey && (event.ctrlKey || event.metaKey) && events.submit) events.submit();
      else if (event.shiftKey) events.runAndGoOn();
      else events.run();
    });
  }

  text(): string {
    return this.field.value;
  }

  replace(text: string): void {
    this.field.value = text;
    this.field.dispatchEvent(new Event("input"));
  }

  insert(text: string): void {
    this.field.setRangeText(text, this.field.selectionStart, this.field.selectionEnd, "end");
    this.field.dispatchEvent(new Event("input"));
  }

  focus(): void {
    this.field.focus();
  }

  // A textarea cannot mark a line or part of it; the message below names the line.
  markLine(): void {}
  clearMarks(): void {}
  light(): void {}

  isWhole(): boolean {
    return true;
  }

  caretLine(): number {
    if (document.activeElement !== this.field) return 0;
    return this.field.value.slice(0, this.field.selectionStart).split("\n").length;
  }
}

/** Prints all of the code as a listing, because a printed editor shows only its visible part. */
function addPrintedCode(field: HTMLTextAreaElement, text: () => string): void {
  const listing = document.createElement("pre");
  listing.className = "pad-printed";
  field.after(listing);
  addEventListener("beforeprint", () => (listing.textContent = text()));
}

/** A pad on this textarea that turns itself into an editor when it comes near the window. */
export class GrowingPad implements Pad {
  private pad: Pad;

  constructor(field: HTMLTextAreaElement, events: PadEvents) {
    this.pad = new TextPad(field, events);
    addPrintedCode(field, () => this.text());
    if (!field.readOnly) addSymbols(field, (text) => this.insert(text));
    const watch = new IntersectionObserver(
      (entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        watch.disconnect();
        void this.grow(field, events);
      },
      { rootMargin: NEAR },
    );
    watch.observe(field);
  }

  private async grow(field: HTMLTextAreaElement, events: PadEvents): Promise<void> {
    const script = document.querySelector<HTMLScriptElement>("script[data-editor]");
    const url = script?.dataset["editor"];
    if (!url) return;
    try {
      const { mountEditor } = (await import(url)) as typeof import("./editor");
      this.pad = mountEditor(field, events, script.nonce);
    } catch {
      // If the editor's file cannot be loaded, the textarea keeps working.
    }
  }

  text(): string {
    return this.pad.text();
  }

  replace(text: string): void {
    this.pad.replace(text);
  }

  insert(text: string): void {
    this.pad.insert(text);
  }

  focus(): void {
    this.pad.focus();
  }

  markLine(line: number, note: string): void {
    this.pad.markLine(line, note);
  }

  clearMarks(): void {
    this.pad.clearMarks();
  }

  light(spans: readonly Span[], follows: boolean): void {
    this.pad.light(spans, follows);
  }

  isWhole(): boolean {
    return this.pad.isWhole();
  }

  caretLine(): number {
    return this.pad.caretLine();
  }
}
