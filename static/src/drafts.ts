// Stores what a learner types: at once in this browser, soon after on the server. Leaving never loses work, and no tab
// or device replaces what another has stored before the reader has chosen between the two.

import { make } from "./dom";

const SEND_AFTER_MS = 900;
const PREFIX = "unwind-draft:";
const CONFLICT = 409;

export class Draft {
  private timer = 0;
  private unsent: string | null = null;
  private conflict: HTMLElement | null = null;

  /**
   * `known` is the stored text that the page came with, or null if any text may be replaced. `place` is the code's
   * form: there the reader is asked if another text was stored since. Without it the last text wins.
   */
  constructor(
    private readonly key: string,
    private readonly place: HTMLElement | null = null,
    private known: string | null = "",
  ) {
    addEventListener("pagehide", () => void this.send());
    addEventListener("storage", (event) => {
      if (event.key === PREFIX + key && event.newValue !== null && event.newValue !== this.text()) this.ask();
    });
  }

  /** Text from an earlier visit that this browser stored and the server never received. */
  left(): string | null {
    try {
      return localStorage.getItem(PREFIX + this.key);
    } catch {
      return null;
    }
  }

  /** Deletes this browser's copy, because the server has replaced the text. */
  drop(): void {
    try {
      localStorage.removeItem(PREFIX + this.key);
    } catch {
      // Nothing was stored, so nothing is left to forget.
    }
  }

  keep(text: string): void {
    this.unsent = text;
    // While the reader has not chosen, this browser's copy is the other tab's.
    if (this.conflict) return;
    try {
      localStorage.setItem(PREFIX + this.key, text);
    } catch {
      // If the browser's storage is full or forbidden, the server's copy remains.
    }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.send(), SEND_AFTER_MS);
  }

  /** The server has stored this text together with a submission. */
  submitted(text: string): void {
    this.known = text;
  }

  private async send(): Promise<void> {
    const text = this.unsent;
    if (text === null || this.conflict) return;
    this.unsent = null;
    clearTimeout(this.timer);
    const over = this.place && this.known;
    const answer = await fetch(`/api/drafts/${this.key}`, {
      method: "PUT",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ text, over }),
      keepalive: true,
    }).catch(() => null);
    if (answer?.status === CONFLICT) {
      this.unsent ??= text;
      this.forget(text);
      this.ask();
    }
    if (!answer?.ok) return;
    this.known = text;
    this.forget(text);
  }

  /** Asks which of the two texts to keep; until then this page stores nothing. */
  private ask(): void {
    if (!this.place || this.conflict) return;
    const words = "Another tab or device has changed this code since you opened this page. Until you choose, nothing that you type here is stored.";
    const take = make("button", { type: "button", class: "button" }, "Take the other version");
    const keep = make("button", { type: "button", class: "button" }, "Keep this version");
    take.addEventListener("click", () => {
      this.unsent = null;
      location.reload();
    });
    keep.addEventListener("click", () => this.insist());
    this.conflict = make("div", { class: "problem draft-conflict", role: "alert" }, make("p", {}, words), make("p", { class: "actions" }, take, keep));
    this.place.querySelector(".pad")?.before(this.conflict);
  }

  private insist(): void {
    this.conflict?.remove();
    this.conflict = null;
    this.known = null;
    this.keep(this.text());
  }

  private text(): string {
    return this.place?.querySelector("textarea")?.value ?? "";
  }

  private forget(sent: string): void {
    if (this.left() === sent) this.drop();
  }
}
