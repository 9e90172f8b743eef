// What a run printed and how it ended. All of it comes from a learner's program, so it is only ever put in text nodes.

import type { OutputPiece, RunDone } from "./wire";

export class OutputPane {
  private listing: HTMLPreElement | null = null;
  private below: HTMLElement | null = null;

  constructor(private readonly pane: HTMLElement) {}

  clear(): void {
    this.pane.replaceChildren();
    this.below?.remove();
    this.pane.hidden = true;
    this.listing = null;
  }

  print(piece: OutputPiece): void {
    this.listing ??= this.add(document.createElement("pre"));
    const part = document.createElement("span");
    if (piece.stream === "stderr") part.className = "stderr";
    part.textContent = piece.text;
    this.listing.append(part);
    this.pane.scrollTop = this.pane.scrollHeight;
  }

  end(end: RunDone): void {
    if (end.output_truncated) this.sayBelow("Cut off: the program printed more than is shown. Print less, or only the end.");
    const { mistake, finding } = end;
    if (mistake) {
      const where = mistake.line ? ` on your line ${mistake.line}` : "";
      this.say("mistake-head", `✗ ${mistake.type}${where}`);
      this.say("mistake-message", mistake.message);
      if (mistake.traceback) this.fold("Traceback", mistake.traceback);
    }
    if (finding?.long) this.say("finding-long", finding.long);
  }

  /** Adds a sentence under the pane, because the pane scrolls and could hide it. */
  private sayBelow(words: string): void {
    this.below = document.createElement("p");
    this.below.className = "small-note output-note";
    this.below.textContent = words;
    this.pane.after(this.below);
  }

  private say(name: string, words: string): void {
    const sentence = document.createElement("p");
    sentence.className = name;
    sentence.textContent = words;
    this.add(sentence);
  }

  private fold(title: string, text: string): void {
    const details = document.createElement("details");
    const summary = document.createElement("summary");
    summary.textContent = title;
    const listing = document.createElement("pre");
    listing.tabIndex = 0;
    listing.textContent = text;
    details.append(summary, listing);
    this.add(details);
  }

  private add<Part extends HTMLElement>(part: Part): Part {
    this.pane.append(part);
    this.pane.hidden = false;
    return part;
  }
}
