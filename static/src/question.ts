// Predictions and questions: the block's own form is posted in place, and the block swaps itself for the answer.

import { postForFragment, renew } from "./fragment";

class PostingElement extends HTMLElement {
  connectedCallback(): void {
    this.addEventListener("submit", (event) => void this.post(event));
  }

  private async post(event: SubmitEvent): Promise<void> {
    const form = event.target;
    if (!(form instanceof HTMLFormElement)) return;
    event.preventDefault();
    this.setAttribute("aria-busy", "true");
    const typed = this.querySelector<HTMLInputElement>("input.number-input, input.text-input")?.value ?? "";
    this.querySelector(".not-sent")?.remove();
    let html: string | null;
    try {
      html = await postForFragment(form, event.submitter);
    } catch {
      this.removeAttribute("aria-busy");
      return sayNotSent(form);
    }
    // Without a fragment the browser posts the form as it would without script, and the page says what is wrong.
    if (html === null) return submitPlainly(form, event.submitter);
    const fresh = renew(this, html);
    // What could not be read is still there to be corrected.
    const invalid = fresh?.querySelector<HTMLInputElement>("input[aria-invalid]");
    if (invalid) invalid.value = typed;
    tell([...(fresh?.querySelectorAll(".judgement, .question > div > .feedback") ?? [])]);
    fresh?.setAttribute("tabindex", "-1");
    fresh?.focus({ preventScroll: true });
    this.settled(fresh);
  }

  protected settled(_fresh: HTMLElement | null): void {}
}

let told: HTMLElement | null = null;

/** Says to a screen reader what came of an answer: a region that is already in the page, which a new block is not. */
function tell(parts: readonly Element[]): void {
  if (!told) {
    told = document.createElement("div");
    told.className = "visually-hidden answer-told";
    told.setAttribute("role", "status");
    document.body.append(told);
  }
  const words = parts.map((part) => part.textContent?.replace(/\s+/g, " ").trim()).join(" ");
  // A region announces what is put into it after it has come into the page.
  setTimeout(() => told && (told.textContent = words), 50);
}

/** Posting the form plainly would put the browser's error page in the place of the chapter. */
function sayNotSent(form: HTMLFormElement): void {
  const words = document.createElement("p");
  words.className = "problem not-sent";
  words.setAttribute("role", "alert");
  words.textContent = "Not sent: the server cannot be reached. Your answer is still here; try again.";
  form.append(words);
}

function submitPlainly(form: HTMLFormElement, submitter: HTMLElement | null): void {
  if (submitter instanceof HTMLButtonElement && submitter.name) {
    const field = document.createElement("input");
    field.type = "hidden";
    field.name = submitter.name;
    field.value = submitter.value;
    form.append(field);
  }
  form.submit();
}

export class PredictElement extends PostingElement {}

export class QuestionElement extends PostingElement {
  override connectedCallback(): void {
    super.connectedCallback();
    const place = this.dataset["graph"];
    const graph = place ? document.getElementById(place)?.querySelector("uw-graph") : null;
    graph?.addEventListener("uw-choose", (event) => this.choose((event as CustomEvent<string>).detail));
    this.addEventListener("change", () => this.light(graph ?? null));
  }

  private choose(node: string): void {
    const field = this.querySelector<HTMLInputElement>(`input[name="node"][value="${CSS.escape(node)}"]`);
    if (!field || field.disabled) return;
    field.checked = true;
    field.dispatchEvent(new Event("change", { bubbles: true }));
    field.focus({ preventScroll: true });
  }

  /** Marks the node that the answer names, also in a picture that has not woken yet. */
  private light(graph: Element | null): void {
    const chosen = this.querySelector<HTMLInputElement>('input[name="node"]:checked');
    if (!chosen || !graph) return;
    for (const node of graph.querySelectorAll<SVGGElement>("g.node[data-node]")) {
      node.classList.toggle("is-chosen", node.dataset["node"] === chosen.value);
    }
  }
}
