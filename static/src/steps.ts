// A walk through a program's states: one state at a time, with its lines marked in the listing.

export class StepsElement extends HTMLElement {
  private states: HTMLElement[] = [];
  private place = 0;
  private readonly count = document.createElement("span");
  private readonly back = button("Previous");
  private readonly on = button("Next");

  connectedCallback(): void {
    this.states = [...this.querySelectorAll<HTMLElement>(".state")];
    const list = this.querySelector(".states");
    if (!list || this.states.length < 2 || this.hasAttribute("data-awake")) return;
    this.toggleAttribute("data-awake", true);
    this.count.setAttribute("role", "status");
    const bar = document.createElement("p");
    bar.className = "steps-bar";
    bar.append(this.back, this.count, this.on);
    list.before(bar);
    this.back.addEventListener("click", () => this.show(this.place - 1));
    this.on.addEventListener("click", () => this.show(this.place + 1));
    this.show(0);
  }

  private show(place: number): void {
    this.place = Math.min(Math.max(place, 0), this.states.length - 1);
    this.states.forEach((state, index) => (state.hidden = index !== this.place));
    const lines = (this.states[this.place]?.dataset["lines"] ?? "").split(" ");
    for (const line of this.querySelectorAll<HTMLElement>("pre .line")) {
      line.toggleAttribute("data-now", lines.includes(line.dataset["line"] ?? ""));
    }
    this.count.textContent = `${this.place + 1} of ${this.states.length}`;
    // A disabled button would lose the focus, so the buttons stay enabled and do nothing at the ends.
    this.back.setAttribute("aria-disabled", String(this.place === 0));
    this.on.setAttribute("aria-disabled", String(this.place === this.states.length - 1));
  }
}

function button(words: string): HTMLButtonElement {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "button";
  made.textContent = words;
  return made;
}
