// Posts a form for the re-rendered block alone, and puts server HTML in place of what it renews.

/** The block's HTML after the post, or null where a whole page has to answer instead. */
export async function postForFragment(form: HTMLFormElement, submitter: HTMLElement | null): Promise<string | null> {
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(form, submitter)) {
    if (typeof value === "string") fields.append(name, value);
  }
  const response = await fetch(form.action, {
    method: "POST",
    headers: { "X-Unwind-Fragment": "1", Accept: "text/html" },
    body: fields,
  });
  const html = await response.text();
  return /^\s*<uw-/.test(html) ? html : null;
}

/** The first element in server HTML. The server escapes what learners wrote; scripts in it would not run. */
export function elementIn(html: string): HTMLElement | null {
  const template = document.createElement("template");
  template.innerHTML = html;
  const element = template.content.firstElementChild;
  return element instanceof HTMLElement ? element : null;
}

/** Puts the server's element where the old one was; the new one, now in the page, comes back. */
export function renew(old: Element, html: string): HTMLElement | null {
  const fresh = elementIn(html);
  if (fresh) old.replaceWith(fresh);
  if (fresh) announce(fresh);
  return fresh;
}

/** Tells the page of a part that has just come into it, so that the elements in it wake too (later.ts). */
export function announce(part: Element): void {
  part.dispatchEvent(new CustomEvent("uw-arrived", { bubbles: true }));
}
