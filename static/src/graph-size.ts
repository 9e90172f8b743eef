// The size of a picture: fitted to its column, or at its own size. Where it fits anyway, there is nothing to choose.

import { make } from "./dom";

/** Below this the labels could not be read: a wider picture scrolls, however it is shown. */
const SMALLEST = 0.6;

let isFull = false;

/** Puts the choice above a picture's scrolling frame; the choice holds for every picture that is shown later. */
export function offerSizes(scroll: HTMLElement): void {
  const picture = scroll.querySelector<SVGSVGElement>(":scope > svg");
  const natural = Number(picture?.getAttribute("width"));
  if (!picture || !natural) return;
  const fit = make("button", { type: "button" }, "Fit");
  const full = make("button", { type: "button" }, "1:1");
  full.setAttribute("aria-label", "1:1, at its own size");
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
