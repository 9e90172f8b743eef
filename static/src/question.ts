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
    let html: string | null = null;
    try {
      html = await postForFragment(form, event.submitter);
    } catch {
      html = null;
    }
    // Without a fragment the browser posts the form as it would without script, and the page says what is wrong.
    if (html === null) return submitPlainly(form, event.submitter);
    const fresh = renew(this, html);
    fresh?.setAttribute("tabindex", "-1");
    fresh?.focus({ preventScroll: true });
    this.settled(fresh);
  }

  protected settled(_fresh: HTMLElement | null): void {}
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
