// The search's dialog: suggestions while you type. The page /search does the same without script.

import { make } from "./dom";
import type { SearchAnswer, SearchHit, SearchPiece } from "./wire";

const PAUSE_MS = 120;
const LONGEST = "100";

let dialog: SearchDialog | null = null;

export function showSearch(): void {
  dialog ??= new SearchDialog();
  dialog.show();
}

class SearchDialog {
  private readonly field = make("input", {
    type: "search", name: "q", class: "text-input", role: "combobox", maxlength: LONGEST, autocomplete: "off", autocapitalize: "off",
    spellcheck: "false", "aria-label": "Search the course", "aria-autocomplete": "list", "aria-controls": "search-list", "aria-expanded": "false",
  });
  private readonly list = make("div", { id: "search-list", class: "search-list", role: "listbox", "aria-label": "Suggestions" });
  private readonly status = make("p", { class: "search-status", role: "status" });
  private readonly element: HTMLDialogElement;
  private pause = 0;
  private asking: AbortController | null = null;
  private active = -1;

  constructor() {
    const close = make("button", { type: "button", class: "button button-quiet" }, "Close");
    const form = make("form", { class: "search-form", method: "get", action: "/search", role: "search" }, this.field, close);
    this.element = make("dialog", { class: "search-dialog", "aria-label": "Search" }, form, this.status, this.list);
    close.addEventListener("click", () => this.element.close());
    this.field.addEventListener("input", () => this.wait());
    this.field.addEventListener("keydown", (event) => this.answerKey(event));
    this.list.addEventListener("click", () => this.element.close());
    this.element.addEventListener("close", () => this.stop());
    // A click outside hits the dialog itself, which has no padding of its own.
    this.element.addEventListener("click", (event) => {
      if (event.target === this.element) this.element.close();
    });
    document.body.append(this.element);
  }

  show(): void {
    if (!this.element.open) this.element.showModal();
    this.field.select();
  }

  private stop(): void {
    clearTimeout(this.pause);
    this.asking?.abort();
  }

  /** One request at a time: typing on cancels the one before. */
  private wait(): void {
    this.stop();
    const searched = this.field.value.trim();
    if (searched) this.pause = setTimeout(() => void this.ask(searched), PAUSE_MS);
    else this.fill([], "");
  }

  private async ask(searched: string): Promise<void> {
    const asking = new AbortController();
    this.asking = asking;
    try {
      const response = await fetch(`/api/search?q=${encodeURIComponent(searched)}`, { signal: asking.signal });
      const answer = (await response.json()) as SearchAnswer & { message?: string };
      if (response.ok) this.fill(answer.hits, say(answer));
      else this.fill([], answer.message ?? "The search did not answer. Press Enter to try again.");
    } catch {
      if (!asking.signal.aborted) this.fill([], "The server cannot be reached. Press Enter to try again.");
    }
  }

  private fill(hits: SearchHit[], words: string): void {
    this.list.replaceChildren(...hits.map(makeOption));
    this.status.textContent = words;
    this.field.setAttribute("aria-expanded", String(hits.length > 0));
    this.choose(-1);
  }

  private answerKey(event: KeyboardEvent): void {
    const count = this.list.children.length;
    if (event.key === "ArrowDown" && count) this.choose((this.active + 2) % (count + 1) - 1);
    else if (event.key === "ArrowUp" && count) this.choose((this.active + count + 1) % (count + 1) - 1);
    else if (event.key === "Enter" && this.active >= 0) (this.list.children[this.active] as HTMLElement).click();
    else return;
    event.preventDefault();
  }

  /** Marks an option; -1 marks none, and Enter then opens the page with all hits. */
  private choose(index: number): void {
    this.active = index;
    [...this.list.children].forEach((option, place) => option.setAttribute("aria-selected", String(place === index)));
    const option = this.list.children[index];
    if (option) this.field.setAttribute("aria-activedescendant", option.id);
    else this.field.removeAttribute("aria-activedescendant");
    option?.scrollIntoView({ block: "nearest" });
  }
}

function say(answer: SearchAnswer): string {
  if (!answer.hits.length) return `Nothing contains “${answer.searched}”. Answers, hints and solutions are not searched.`;
  return answer.whole ? "Enter shows all hits." : `Nothing contains all of “${answer.searched}”. These have some of it.`;
}

function makeOption(hit: SearchHit, place: number): HTMLElement {
  const where = hit.where ? `${hit.kind} · ${hit.where}` : hit.kind;
  return make(
    "a",
    { id: `search-hit-${place}`, class: "search-hit", role: "option", tabindex: "-1", href: hit.href, "aria-selected": "false" },
    make("span", { class: "search-kind" }, where),
    make("span", { class: "search-heading" }, ...hit.heading.map(mark)),
    make("span", { class: "search-snippet" }, ...hit.snippet.map(mark)),
  );
}

function mark(piece: SearchPiece): Node | string {
  return piece.found ? make("mark", {}, piece.text) : piece.text;
}
