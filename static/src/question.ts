// Predictions and questions: the block's form is posted in place, and the server's new block replaces it.

import { joinGraph } from "./choosing";
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
    // Without a fragment the browser posts the form as it would without script, and the new page shows what is wrong.
    if (html === null) return submitPlainly(form, event.submitter);
    const fresh = renew(this, html);
    // Restore an input that could not be read, so that the reader can correct it.
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

/** Announces the result of an answer. A live region must already be in the page, so a new block cannot be one. */
function tell(parts: readonly Element[]): void {
  if (!told) {
    told = document.createElement("div");
    told.className = "visually-hidden answer-told";
    told.setAttribute("role", "status");
    document.body.append(told);
  }
  const words = parts.map((part) => part.textContent?.replace(/\s+/g, " ").trim()).join(" ");
  // A live region announces only text that is added after the region is in the page.
  setTimeout(() => told && (told.textContent = words), 50);
}

/** Reports a failed post in the form; posting it without script would replace the chapter by the browser's error page. */
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
    joinGraph(this, this.dataset["graph"]);
  }
}
