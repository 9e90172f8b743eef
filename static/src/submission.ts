// A submission or a public check: sent without leaving the page, followed live, answered in place.

import { DiagnosisFields } from "./diagnosis";
import { make } from "./dom";
import { Draft } from "./drafts";
import { announce, elementIn } from "./fragment";
import { LiveCases } from "./live-cases";
import { GrowingPad, type Pad } from "./pad";
import { openedHeader } from "./opened";
import { followFile } from "./script-run";
import { NO_GRADER, refusalOf, Refusal } from "./stream";
import type { Accepted } from "./wire";

const LOOK_AGAIN_MS = 3000;

class SubmissionElement extends HTMLElement {
  private pad: Pad | null = null;
  private draft: Draft | null = null;
  private diagnosis: DiagnosisFields | null = null;
  private cases = new LiveCases(null);
  private beforeReset: string | null = null;
  private events: EventSource | null = null;
  private readonly hint = (event: SubmitEvent): void => {
    const form = event.target instanceof HTMLFormElement && event.target.matches("#hints form.hint") ? event.target : null;
    if (!form) return;
    event.preventDefault();
    void openHint(form, event.submitter);
  };

  connectedCallback(): void {
    this.cases = new LiveCases(this.querySelector("[data-live-cases]"));
    const form = this.querySelector<HTMLFormElement>("form.pad-form");
    if (form) this.wakeForm(form);
    const { events, href } = this.dataset;
    if (events && href) this.follow(events, href);
  }

  disconnectedCallback(): void {
    this.events?.close();
    document.removeEventListener("submit", this.hint);
  }

  private wakeForm(form: HTMLFormElement): void {
    const field = form.querySelector<HTMLTextAreaElement>("textarea");
    if (!field) return;
    const check = (): void => form.requestSubmit(form.querySelector<HTMLElement>("[data-check]"));
    const submit = (): void => form.requestSubmit(form.querySelector<HTMLElement>("[data-submit]"));
    this.pad = new GrowingPad(field, {
      changed: () => this.changed(),
      run: check,
      runAndGoOn: check,
      submit,
      pointed: () => undefined,
    });
    // After a verdict the focus is on it, and the keys work there too. An event that the editor handled is skipped.
    this.addEventListener("keydown", (event) => {
      if (event.defaultPrevented || event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      if (event.shiftKey) submit();
      else check();
    });
    const place = this.dataset["draft"];
    if (place) this.takeUpDraft(new Draft(place, form, field.defaultValue));
    const asked = form.querySelector<HTMLElement>("[data-diagnosis]");
    if (asked) this.diagnosis = new DiagnosisFields(asked);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const button = event.submitter;
      const measures = button?.hasAttribute("data-measure") ?? false;
      if (button?.hasAttribute("data-script")) void this.runFile();
      else void this.send(form, measures || (button?.hasAttribute("data-check") ?? false), measures);
    });
    // On the document, because the hints are renewed. Only the element with the form listens: a verdict is one too.
    document.addEventListener("submit", this.hint);
    this.querySelector("[data-reset]")?.addEventListener("click", () => this.reset(field.dataset["starter"] ?? ""));
    this.offerReset();
  }

  private takeUpDraft(draft: Draft): void {
    this.draft = draft;
    const address = new URL(location.href);
    if (address.searchParams.has("restored")) {
      draft.drop();
      address.searchParams.delete("restored");
      history.replaceState(null, "", address);
      return this.say("That version is back in the editor.");
    }
    const left = draft.left();
    if (left !== null && left !== this.pad?.text()) this.pad?.replace(left);
  }

  private changed(): void {
    this.pad?.clearMarks();
    this.beforeReset = null;
    this.draft?.keep(this.pad?.text() ?? "");
    this.offerReset();
  }

  private reset(starter: string): void {
    const before = this.pad?.text() ?? "";
    const undone = this.beforeReset;
    this.pad?.replace(undone ?? starter);
    this.beforeReset = undone === null ? before : null;
    this.offerReset();
  }

  private offerReset(): void {
    const button = this.querySelector<HTMLButtonElement>("[data-reset]");
    const starter = this.querySelector("textarea")?.dataset["starter"] ?? "";
    if (!button) return;
    button.hidden = this.beforeReset === null && this.pad?.text() === starter;
    button.textContent = this.beforeReset === null ? "Reset to the starter" : "Undo reset";
  }

  private async send(form: HTMLFormElement, isPublicCheck: boolean, measures: boolean): Promise<void> {
    const key = form.querySelector<HTMLInputElement>('input[name="idempotency_key"]');
    const url = isPublicCheck ? this.dataset["apiCheck"] : this.dataset["api"];
    if (!key || !url || this.hasAttribute("data-sending")) return;
    this.sending(true);
    this.say("Sending …");
    this.cases.clear();
    try {
      const accepted = await this.post(url, key.value, isPublicCheck, measures);
      key.value = newKey();
      this.say(waitingWords(accepted));
      this.follow(accepted.events, `/exercises/${this.dataset["exercise"]}/submissions/${accepted.id}`);
    } catch (problem) {
      // Keep the idempotency key, so that sending the same text again cannot create a second submission.
      this.say(problem instanceof Refusal ? problem.message : "Not sent: the server cannot be reached. Your text is kept; try again.");
      this.sending(false);
    }
  }

  /** Runs the text as a program: what it prints comes as it is printed, and the whole run at its end. */
  private async runFile(): Promise<void> {
    const place = this.querySelector<HTMLElement>("[data-result]");
    const exercise = this.dataset["exercise"] ?? "";
    if (!place || this.hasAttribute("data-sending")) return;
    this.sending(true);
    this.say("Sending …");
    this.pad?.clearMarks();
    try {
      const id = await followFile({ source: this.pad?.text() ?? "", exercise }, place, (words) => this.say(words));
      await this.showRun(`/runs/${id}?exercise=${exercise}`, place);
    } catch (problem) {
      this.say(problem instanceof Refusal ? problem.message : "Not run: the server cannot be reached. Your text is kept; try again.");
    }
    this.sending(false);
  }

  private async showRun(href: string, place: HTMLElement): Promise<void> {
    const run = await fetchBlock(href);
    if (!run) return this.say("The run could not be fetched. Run the file again.");
    place.replaceChildren(run);
    announce(run);
    this.say("");
    this.markMistake(run);
    run.querySelector<HTMLElement>(".run-headline")?.focus({ preventScroll: true });
    run.scrollIntoView({ block: "nearest" });
  }

  private sending(now: boolean): void {
    this.toggleAttribute("data-sending", now);
    // Not `disabled`, which would remove the keyboard's focus.
    for (const button of this.querySelectorAll("[data-check], [data-measure], [data-script], [data-submit]")) button.setAttribute("aria-disabled", String(now));
  }

  private async post(url: string, key: string, isPublicCheck: boolean, benchmark: boolean): Promise<Accepted> {
    const said = isPublicCheck ? (benchmark ? { benchmark } : {}) : (this.diagnosis?.said() ?? {});
    const source = this.pad?.text() ?? "";
    const response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...openedHeader() },
      body: JSON.stringify({ source, idempotency_key: key, ...said }),
    });
    if (!response.ok) throw await refusalOf(response);
    this.draft?.submitted(source);
    return (await response.json()) as Accepted;
  }

  private follow(events: string, href: string): void {
    this.events?.close();
    const source = new EventSource(events);
    this.events = source;
    // The last known state is shown again once a lost connection is back.
    let known = "";
    const tell = (words: string): void => this.say((known = words));
    source.addEventListener("queued", (event) => {
      const ahead = Number(Reflect.get(dataOf(event), "ahead") ?? 0);
      if (Reflect.get(dataOf(event), "served") === false) return tell(NO_GRADER);
      tell(ahead > 0 ? `Waiting: ${ahead} before yours` : "Waiting for a grader");
    });
    source.addEventListener("started", () => tell("Running in the sandbox …"));
    source.addEventListener("case", (event) => {
      const done = this.cases.add(dataOf(event));
      tell(`Judged ${done} ${done === 1 ? "case" : "cases"} …`);
    });
    source.addEventListener("finished", () => {
      source.close();
      void this.showVerdict(href);
    });
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) setTimeout(() => void this.showVerdict(href), LOOK_AGAIN_MS);
      else this.say("Not connected to the server. Your submission is kept; trying again …");
    };
    source.onopen = () => known && this.say(known);
  }

  private async showVerdict(href: string): Promise<void> {
    const verdict = await fetchBlock(href);
    this.sending(false);
    this.cases.clear();
    if (!verdict) return this.say("The verdict could not be fetched. Reload the page to see it.");
    const place = this.querySelector("[data-result]");
    if (place) place.replaceChildren(verdict);
    else this.replaceWith(verdict);
    announce(verdict);
    this.say("");
    this.markMistake(verdict);
    verdict.querySelector<HTMLElement>("[data-verdict]")?.focus({ preventScroll: true });
    verdict.scrollIntoView({ block: "nearest" });
    if (place) await renewHistory();
  }

  private markMistake(verdict: HTMLElement): void {
    const mistake = verdict.querySelector<HTMLElement>(".mistake[data-line]");
    const line = Number(mistake?.dataset["line"] ?? 0);
    if (line) this.pad?.markLine(line, mistake?.querySelector(".mistake-message")?.textContent ?? "");
  }

  private say(words: string): void {
    const status = this.querySelector("[data-state]") ?? this.querySelector("[data-status]");
    if (status) status.textContent = words;
    const detail = this.querySelector("[data-detail]");
    if (detail) detail.textContent = "";
  }
}

export const definitions = [["uw-submission", SubmissionElement]] as const;

async function fetchBlock(href: string): Promise<HTMLElement | null> {
  const response = await fetch(href, { headers: { "X-Unwind-Fragment": "1", Accept: "text/html" } }).catch(() => null);
  return response?.ok ? elementIn(await response.text()) : null;
}

/** Opens a hint without leaving the page, so that the verdict and the editor stay as they are. */
async function openHint(form: HTMLFormElement, submitter: HTMLElement | null): Promise<void> {
  const number = submitter instanceof HTMLButtonElement ? submitter.value : "";
  const headers = { Accept: "text/html", ...openedHeader() };
  const body = new URLSearchParams({ number });
  const response = await fetch(form.action, { method: "POST", headers, body }).catch(() => null);
  // The server's own page says what is wrong. The event is not sent again, so the browser sends the form.
  if (!response?.ok) return HTMLFormElement.prototype.submit.call(withField(form, number));
  renewParts(await response.text(), ["hints"]);
  const opened = [...document.querySelectorAll<HTMLElement>("#hints details.hint > summary")].at(-1);
  opened?.focus();
}

/** A form that is sent by script leaves out its button, so the button's value becomes a field. */
function withField(form: HTMLFormElement, number: string): HTMLFormElement {
  form.append(make("input", { type: "hidden", name: "number", value: number }));
  return form;
}

/** Renews the page's history and badges from the server. */
async function renewHistory(): Promise<void> {
  const response = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
  if (response?.ok) renewParts(await response.text(), ["history", "hints", "chart", "solved", "assigned"]);
}

function renewParts(html: string, ids: readonly string[]): void {
  const page = new DOMParser().parseFromString(html, "text/html");
  for (const id of ids) {
    const fresh = page.getElementById(id);
    if (!fresh) continue;
    document.getElementById(id)?.replaceWith(fresh);
    announce(fresh);
  }
}

function waitingWords(accepted: Accepted): string {
  if (accepted.served === false) return NO_GRADER;
  const ahead = accepted.ahead ?? 0;
  return ahead > 0 ? `Accepted: ${ahead} before yours` : "Accepted";
}

function newKey(): string {
  // randomUUID exists only in secure contexts, but a class may use this course over plain http.
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function dataOf(event: Event): object {
  try {
    const data: unknown = JSON.parse((event as MessageEvent<string>).data);
    return typeof data === "object" && data !== null ? data : {};
  } catch {
    return {};
  }
}
