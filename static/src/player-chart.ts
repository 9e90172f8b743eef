// The bytes held for backward as a step chart that follows the tape. Opening the panel loads the chart library.

import { colour, loadLibrary, type Plotly } from "./charts";
import { make } from "./dom";
import type { Replay } from "./player-tape";

interface Clickable extends HTMLElement {
  on?(name: string, act: (event: { points: { x: number }[] }) => void): void;
}

export class BytesPanel {
  readonly element: HTMLDetailsElement;
  private readonly now: HTMLElement;
  private readonly place: Clickable;
  private plotly: Plotly | null = null;
  private frame = 0;

  constructor(
    private readonly replay: Replay,
    private readonly go: (taken: number) => void,
  ) {
    this.now = make("strong", {});
    this.place = make("div", { class: "player-chart", role: "img", "aria-label": "Bytes held for backward after each step" });
    this.element = make("details", { class: "player-panel" });
    this.element.append(make("summary", {}, "Bytes held for backward: ", this.now), this.place);
    this.element.addEventListener("toggle", () => {
      if (this.element.open && !this.plotly) void this.draw();
    });
  }

  show(): void {
    this.now.textContent = writeBytes(this.replay.bytes());
    if (!this.plotly || this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      void this.plotly?.relayout(this.place, { shapes: [this.line()] });
    });
  }

  private line(): object {
    const x = this.replay.taken;
    return { type: "line", x0: x, x1: x, y0: 0, y1: 1, yref: "paper", line: { color: colour("--backward"), width: 2 } };
  }

  private async draw(): Promise<void> {
    const steps = Array.from({ length: this.replay.length + 1 }, (_, taken) => taken);
    const held = steps.map((taken) => this.replay.bytes(taken));
    const paint = colour("--saved");
    const axis = { gridcolor: colour("--rule"), zerolinecolor: colour("--rule-strong"), automargin: true, fixedrange: true };
    const data = [
      { x: steps, y: held, type: "scatter", mode: "lines", fill: "tozeroy", line: { shape: "hv", color: paint, width: 2 } },
    ];
    const layout = {
      xaxis: { ...axis, title: { text: "steps taken" } },
      yaxis: { ...axis, title: { text: "bytes" }, rangemode: "tozero" },
      font: { family: getComputedStyle(this.element).getPropertyValue("--serif"), size: 13, color: colour("--ink") },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      margin: { l: 56, r: 12, t: 10, b: 44 },
      height: 220,
      shapes: [this.line()],
    };
    try {
      const plotly = await loadLibrary();
      await plotly.react(this.place, data, layout, { displayModeBar: false, responsive: true });
      this.plotly = plotly;
      this.place.on?.("plotly_click", (event) => this.go(event.points[0]?.x ?? 0));
    } catch {
      this.place.textContent = "The chart could not be loaded; the list of the tape says the same.";
    }
  }
}

const UNITS = ["bytes", "kB", "MB", "GB"];

/** Bytes as the server writes them: powers of 1,000, with one decimal below 10 of a larger unit. */
export function writeBytes(count: number): string {
  let size = count;
  let unit = 0;
  while (size >= 999.5 && unit < UNITS.length - 1) {
    size /= 1000;
    unit += 1;
  }
  const digits = unit && size < 9.95 ? 1 : 0;
  return `${size.toFixed(digits)} ${count === 1 ? "byte" : UNITS[unit]}`;
}
