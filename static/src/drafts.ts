// Stores what a learner types: at once in this browser, soon after on the server. Leaving never loses work.

import { openedHeader } from "./opened";

const SEND_AFTER_MS = 900;
const PREFIX = "unwind-draft:";

export const CHANGED_ELSEWHERE = "Another tab has changed this code. Reload to see that version; what you type here replaces it.";

export class Draft {
  private timer = 0;
  private unsent: string | null = null;

  /** `changedElsewhere` is called when another tab of this browser stores a different text under the same key. */
  constructor(
    private readonly place: string,
    changedElsewhere: () => void = () => undefined,
  ) {
    addEventListener("pagehide", () => void this.send());
    addEventListener("storage", (event) => {
      if (event.key === PREFIX + place && event.newValue !== null) changedElsewhere();
    });
  }

  /** Text from an earlier visit that this browser stored and the server never received. */
  left(): string | null {
    try {
      return localStorage.getItem(PREFIX + this.place);
    } catch {
      return null;
    }
  }

  /** Deletes this browser's copy, because the server has replaced the text. */
  drop(): void {
    try {
      localStorage.removeItem(PREFIX + this.place);
    } catch {
      // Nothing was stored, so nothing is left to forget.
    }
  }

  keep(text: string): void {
    this.unsent = text;
    try {
      localStorage.setItem(PREFIX + this.place, text);
    } catch {
      // If the browser's storage is full or forbidden, the server's copy remains.
    }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.send(), SEND_AFTER_MS);
  }

  private async send(): Promise<void> {
    const text = this.unsent;
    if (text === null) return;
    this.unsent = null;
    clearTimeout(this.timer);
    const answer = await fetch(`/api/drafts/${this.place}`, {
      method: "PUT",
      headers: { "Content-Type": "application/json", ...openedHeader() },
      body: JSON.stringify({ text }),
      keepalive: true,
    }).catch(() => null);
    if (answer?.ok) this.forget(text);
  }

  private forget(sent: string): void {
    try {
      if (localStorage.getItem(PREFIX + this.place) === sent) localStorage.removeItem(PREFIX + this.place);
    } catch {
      // Nothing was stored, so nothing is left to forget.
    }
  }
}
