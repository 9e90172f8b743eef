// The predictions that a run settled, shown where it ran: the reader's guess, what happened, and a link to the reasons.

import { make } from "./dom";

/** Reads a prediction's card as the server renders it after the run. */
export function summarise(card: HTMLElement): HTMLElement {
  const chosen = card.querySelector(".option.is-chosen");
  const right = card.querySelector(".option.is-right");
  const wasRight = chosen !== null && chosen === right;
  const rows = make("dl", { class: "settled-rows" });
  const add = (term: string, option: Element | null, kind: string): void => {
    const words = option ? answerOf(option) : "I don’t know";
    rows.append(make("div", { class: kind }, make("dt", {}, term), make("dd", {}, words)));
  };
  add("You predicted", chosen, wasRight ? "is-right" : chosen ? "is-wrong" : "");
  if (!wasRight) add("What happens", right, "is-right");
  const link = make("a", { href: `#${card.id}` }, "Read why");
  const label = make("p", { class: "card-label" }, "Your prediction");
  return make("div", { class: "settled", "data-settles": card.dataset["predict"] ?? "" }, label, rows, make("p", {}, link));
}

/** An option's text, with its code and formulas, but without the feedback under it. */
function answerOf(option: Element): Node {
  const copy = option.querySelector(":scope > div")?.cloneNode(true) as HTMLElement | undefined;
  copy?.querySelectorAll(".option-word, .feedback").forEach((part) => part.remove());
  return copy ?? document.createTextNode("");
}
