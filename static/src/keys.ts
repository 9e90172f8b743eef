// The page's keys: arrows go to another chapter, / searches, ? shows the list. All are off while typing.

import { wake } from "./later";
import { openSearch } from "./search-door";

export function listenForKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.key === "p" && (event.ctrlKey || event.metaKey) && print()) return event.preventDefault();
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (answer(event.key)) event.preventDefault();
  });
}

/** Whether the page has charts, which are drawn before it is printed. */
function print(): boolean {
  const hasCharts = document.querySelector("uw-measure") !== null;
  if (hasCharts) void import("./printing").then((printing) => printing.printWithCharts(wake), window.print);
  return hasCharts;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  // Graphs, scrolling code, radio buttons and open dialogs use the arrow keys themselves.
  return target.closest("input, textarea, select, [contenteditable], [tabindex='0'], uw-graph, dialog") !== null;
}

function answer(key: string): boolean {
  if (key === "ArrowLeft") return turn("prev");
  if (key === "ArrowRight") return turn("next");
  if (key === "?") return showKeys();
  if (key === "/") return openSearch();
  return false;
}

function turn(rel: "prev" | "next"): boolean {
  const link = document.querySelector<HTMLLinkElement>(`link[rel="${rel}"]`);
  if (link) location.assign(link.href);
  return link !== null;
}

function showKeys(): boolean {
  const dialog = document.querySelector<HTMLDialogElement>("#keys");
  if (dialog && !dialog.open) dialog.showModal();
  return dialog !== null;
}
