// The player's controls: first, back, play, forward, last; a slider; and the parts of the timeline with their names.

import { make, sign } from "./dom";

export interface BarEvents {
  go(taken: number): void;
  play(): void;
}

const SIGNS = {
  first: "M5 4v12M15 4L7 10l8 6z",
  back: "M14 4L6 10l8 6z",
  play: "M6 3l10 7-10 7z",
  pause: "M5 3h4v14H5zM11 3h4v14h-4z",
  forward: "M6 4l8 6-8 6z",
  last: "M15 4v12M5 4l8 6-8 6z",
};

export class PlayerBar {
  readonly element: HTMLElement;
  private readonly slider: HTMLInputElement;
  private readonly count: HTMLElement;
  private readonly buttons: Record<"first" | "back" | "play" | "forward" | "last", HTMLButtonElement>;
  private taken = 0;

  constructor(
    private readonly length: number,
    calls: readonly [label: string, first: number, last: number][],
    events: BarEvents,
  ) {
    const button = (name: keyof typeof SIGNS, words: string, act: () => void): HTMLButtonElement => {
      const made = make("button", { type: "button", class: "player-button", "aria-label": words, title: words });
      made.append(sign(SIGNS[name]));
      made.addEventListener("click", act);
      return made;
    };
    this.buttons = {
      first: button("first", "To the beginning", () => events.go(0)),
      back: button("back", "One step back", () => events.go(this.taken - 1)),
      play: button("play", "Play", () => events.play()),
      forward: button("forward", "One step forward", () => events.go(this.taken + 1)),
      last: button("last", "To the end", () => events.go(this.length)),
    };
    this.slider = make("input", { type: "range", class: "player-slider", min: "0", max: String(length), step: "1" });
    this.slider.setAttribute("aria-label", "Step of the tape");
    this.slider.addEventListener("input", () => events.go(Number(this.slider.value)));
    this.count = make("span", { class: "player-count", "aria-hidden": "true" });
    const track = make("div", { class: "player-track" }, this.slider, parts(calls, length, (at) => events.go(at)));
    const order = [this.buttons.first, this.buttons.back, this.buttons.play, this.buttons.forward, this.buttons.last];
    this.element = make(
      "div",
      { class: "player-bar", role: "group", "aria-label": "Step through the tape" },
      make("div", { class: "player-buttons" }, ...order, this.count),
      track,
    );
  }

  show(taken: number, told: string): void {
    this.taken = taken;
    this.slider.value = String(taken);
    this.slider.setAttribute("aria-valuetext", `step ${taken} of ${this.length}${told ? `: ${told}` : ""}`);
    this.count.textContent = `${taken} / ${this.length}`;
    // A disabled button would lose the focus in the middle of stepping.
    for (const name of ["first", "back"] as const) this.dim(this.buttons[name], taken === 0);
    for (const name of ["forward", "last"] as const) this.dim(this.buttons[name], taken === this.length);
  }

  playing(is: boolean): void {
    const { play } = this.buttons;
    const words = is ? "Pause" : "Play";
    play.replaceChildren(sign(is ? SIGNS.pause : SIGNS.play));
    play.setAttribute("aria-label", words);
    play.title = words;
  }

  private dim(button: HTMLButtonElement, is: boolean): void {
    button.setAttribute("aria-disabled", String(is));
  }
}

/** The timeline's parts under the slider, each as wide as it is long; a press goes to its first step. */
function parts(
  calls: readonly [label: string, first: number, last: number][],
  length: number,
  go: (taken: number) => void,
): HTMLElement {
  const strip = make("div", { class: "player-parts" });
  for (const [label, first, last] of calls) {
    const kind = label === "forward" ? "part-forward" : "part-backward";
    const part = make("button", { type: "button", class: `player-part ${kind}`, title: `${label}: steps ${first} to ${last}` });
    part.append(make("span", {}, label));
    // Set through the object model, which the policy allows; it forbids a style attribute.
    part.style.flexGrow = String((last - first + 1) / Math.max(length, 1));
    part.addEventListener("click", () => go(label === "forward" ? last : first));
    strip.append(part);
  }
  return strip;
}
