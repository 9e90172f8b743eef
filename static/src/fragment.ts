// Posts a form to get one re-rendered block, and replaces elements by the server's HTML.

import { openedHeader } from "./opened";

/** The block's HTML after the post, or null if the answer must be a whole page. */
export async function postForFragment(form: HTMLFormElement, submitter: HTMLElement | null): Promise<string | null> {
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(form, submitter)) {
    if (typeof value === "string") fields.append(name, value);
  }
  const response = await fetch(form.action, {
    method: "POST",
    headers: {
      "X-Unwind-Fragment": "1",
      "X-Unwind-Zone": Intl.DateTimeFormat().resolvedOptions().timeZone,
      Accept: "text/html",
      ...openedHeader(),
    },
    body: fields,
  });
  const html = await response.text();
  return /^\s*<(uw-|div )/.test(html) ? html : null;
}

/** The first element in server HTML. The server escapes what learners wrote; scripts in it would not run. */
export function elementIn(html: string): HTMLElement | null {
  const template = document.createElement("template");
  template.innerHTML = html;
  const element = template.content.firstElementChild;
  return element instanceof HTMLElement ? element : null;
}

/** Replaces the old element by the server's; returns the new one, which is now in the page. */
export function renew(old: Element, html: string): HTMLElement | null {
  const fresh = elementIn(html);
  if (fresh) old.replaceWith(fresh);
  if (fresh) announce(fresh);
  return fresh;
}

/** Announces a new part of the page, so that the elements in it wake too (later.ts). */
export function announce(part: Element): void {
  part.dispatchEvent(new CustomEvent("uw-arrived", { bubbles: true }));
}
