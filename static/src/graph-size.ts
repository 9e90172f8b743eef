// The size of a picture: fitted to its column, or its natural size. If it fits anyway, there is no choice.

import { make } from "./dom";

/** Below this scale the labels would be unreadable, so a wider picture scrolls even when fitted. */
const SMALLEST = 0.6;

let isFull = false;

/** Puts the choice above a picture's scrolling frame; it also applies to every picture shown later. */
export function offerSizes(scroll: HTMLElement): void {
  const picture = scroll.querySelector<SVGSVGElement>(":scope > svg");
  const natural = Number(picture?.getAttribute("width"));
  if (!picture || !natural) return;
  const fit = make("button", { type: "button" }, "Fit");
  const full = make("button", { type: "button" }, "1:1");
  full.setAttribute("aria-label", "1:1, at its natural size");
  const choice = make("div", { class: "graph-sizes", role: "group", "aria-label": "Size of the picture" }, fit, full);
  const show = (): void => {
    scroll.classList.toggle("is-full", isFull);
    picture.style.minWidth = isFull ? "" : `${Math.round(natural * SMALLEST)}px`;
    fit.setAttribute("aria-pressed", String(!isFull));
    full.setAttribute("aria-pressed", String(isFull));
  };
  const choose = (wanted: boolean): void => {
    isFull = wanted;
    show();
  };
  fit.addEventListener("click", () => choose(false));
  full.addEventListener("click", () => choose(true));
  new ResizeObserver(() => {
    choice.hidden = natural <= scroll.clientWidth;
  }).observe(scroll);
  scroll.parentElement?.querySelector(":scope > .graph-sizes")?.remove();
  scroll.before(choice);
  show();
}
