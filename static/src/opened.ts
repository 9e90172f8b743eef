// Tells the server since when this page is open: a reader has no cookie, and should not look like a newcomer.

/** A header for requests that store something; empty once there is a session. */
export function openedHeader(): Record<string, string> {
  const note = document.querySelector<HTMLElement>("script[data-opened]")?.dataset["opened"];
  return note ? { "X-Unwind-Opened": note } : {};
}
