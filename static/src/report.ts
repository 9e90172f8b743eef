// The link "Note it, or report a mistake" after each block: opens a dialog, and costs a chapter one stop of the Tab key. The server
// renders the dialog's form, as for the form's own page. Before this script has come, the link leads to that page.

import { make } from "./dom";
import { elementIn, postForFragment } from "./fragment";

const LINK = "a.report";
const MOVES: Readonly<Record<string, number>> = { ArrowUp: -1, ArrowDown: 1 };

export function watchReportLinks(): void {
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>(LINK) : null;
    if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    // A page that cannot fetch the dialog still has the form as its own page.
    openReport(link).catch(() => location.assign(link.href));
  });
  const blocks = document.querySelector<HTMLElement>(".chapter > .text, .glossary");
  if (blocks) rove(blocks);
}

/** Leaves one link in the order of Tab: that of the block in which the focus was last. Arrows go to the others. */
function rove(blocks: HTMLElement): void {
  const links = [...blocks.querySelectorAll<HTMLAnchorElement>(LINK)];
  let stop = links[0];
  for (const link of links.slice(1)) link.tabIndex = -1;
  blocks.addEventListener("focusin", ({ target }) => {
    const next = findLink(blocks, target as Element);
    if (!stop || !next || next === stop) return;
    stop.tabIndex = -1;
    next.removeAttribute("tabindex");
    stop = next;
  });
  blocks.addEventListener("keydown", (event) => {
    const move = MOVES[event.key];
    if (move === undefined || !(event.target instanceof HTMLAnchorElement) || !event.target.matches(LINK)) return;
    event.preventDefault();
    links[links.indexOf(event.target) + move]?.focus();
  });
}

/** The link of the block that holds an element: within the block, or the next one after it. */
function findLink(blocks: HTMLElement, inside: Element): HTMLAnchorElement | null {
  let block: Element | null = inside;
  while (block.parentElement && block.parentElement !== blocks) block = block.parentElement;
  for (; block; block = block.nextElementSibling) {
    const link = block.matches(LINK) ? block : block.querySelector(LINK);
    if (link instanceof HTMLAnchorElement) return link;
  }
  return null;
}

async function openReport(link: HTMLAnchorElement): Promise<void> {
  const response = await fetch(link.href, { headers: { "X-Unwind-Fragment": "1", Accept: "text/html" } });
  const form = response.ok ? elementIn(await response.text()) : null;
  if (!form) throw new Error(`no form came from ${link.href}`);
  const title = make("h2", { id: "report-title" }, link.textContent);
  const close = make("button", { class: "button", type: "button" }, "Close");
  const dialog = make("dialog", { class: "report-dialog", "aria-labelledby": "report-title" }, title, form, close);
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => {
    dialog.remove();
    link.focus();
  });
  dialog.addEventListener("submit", (event) => {
    event.preventDefault();
    if (event.target instanceof HTMLFormElement) void send(event.target, dialog);
  });
  document.body.append(dialog);
  dialog.showModal();
  form.querySelector<HTMLElement>("textarea")?.focus();
}

/** Sends the form, and shows what the server answers. An answer that is no form, such as a refusal, is a page. */
async function send(form: HTMLFormElement, dialog: HTMLDialogElement): Promise<void> {
  const html = await postForFragment(form, null).catch(() => null);
  const answer = html === null ? null : elementIn(html);
  if (!answer) return form.submit();
  dialog.querySelector(".report-form")?.replaceWith(answer);
  answer.querySelector<HTMLElement>("[role='status'], textarea")?.focus();
}
