// A measurement: its table is in the page; the chart is drawn when it comes near, with a library loaded then.

import { chooseColours } from "./chart-colours";
import { nameLines } from "./chart-labels";
import { colour, loadLibrary } from "./charts";
import { elementIn } from "./fragment";
import { keepPoints, keepRows, type Trace } from "./tried";

interface Figure {
  data: Trace[];
  layout: Record<string, object>;
}

const NEAR = "300px";
// One shape per series, so that colour is never the only difference.
const MARKS = ["circle", "square", "diamond", "triangle-up", "x", "cross"];

export class MeasureElement extends HTMLElement {
  private watch: IntersectionObserver | null = null;
  private readonly repaint = () => void (this.hasAttribute("data-drawn") && this.draw());
  private readonly theme = new MutationObserver(this.repaint);

  connectedCallback(): void {
    this.addEventListener("uw-measured", (event) => this.take((event as CustomEvent<string>).detail));
    if (!this.dataset["figure"]) return;
    this.watch = new IntersectionObserver((entries) => this.near(entries), { rootMargin: NEAR, scrollMargin: NEAR });
    this.watch.observe(this);
    this.theme.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", this.repaint);
  }

  disconnectedCallback(): void {
    this.watch?.disconnect();
    this.theme.disconnect();
    matchMedia("(prefers-color-scheme: dark)").removeEventListener("change", this.repaint);
  }

  /** After a new measurement, its table and chart replace these; the edited code stays. */
  private take(html: string): void {
    const fresh = elementIn(html);
    const now = fresh?.querySelector("figure");
    const before = this.querySelector("figure");
    if (!fresh || !now || !before) return;
    const figure = fresh.dataset["figure"] ?? "";
    const keeps = this.querySelector("uw-cuts") !== null;
    if (keeps) keepRows(before, now);
    if (figure) this.dataset["figure"] = keeps ? this.withPoints(figure) : figure;
    else delete this.dataset["figure"];
    before.replaceWith(now);
    this.classList.add("is-live");
    if (figure) void this.draw();
  }

  /** If the measurement has cuts to move, earlier results stay in the chart. */
  private withPoints(figure: string): string {
    const now = JSON.parse(figure) as Figure;
    const before = JSON.parse(this.dataset["figure"] ?? '{"data":[]}') as Figure;
    return JSON.stringify({ ...now, data: keepPoints(before.data, now.data) });
  }

  private near(entries: IntersectionObserverEntry[]): void {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    this.watch?.disconnect();
    void this.draw();
  }

  private async draw(): Promise<void> {
    const place = this.querySelector<HTMLElement>("[data-chart]");
    if (!place || !this.isConnected) return;
    const figure = JSON.parse(this.dataset["figure"] ?? "{}") as Figure;
    try {
      const plotly = await loadLibrary();
      place.hidden = false;
      const colours = chooseColours(figure.data.map((trace) => trace.name ?? "")).map(colour);
      const layout = this.layOut(figure, colours, place.clientWidth);
      await plotly.react(place, dress(figure.data, colours), layout, { displayModeBar: false, responsive: true });
      this.foldTable();
      this.toggleAttribute("data-drawn", true);
    } catch {
      // Without the chart, the table shows the same numbers.
      place.hidden = true;
    }
  }

  /** Folds the table once the chart is drawn; it stays open if moving cuts adds rows to it. */
  private foldTable(): void {
    const table = this.querySelector<HTMLDetailsElement>("[data-table]");
    if (table && !this.hasAttribute("data-drawn") && !this.querySelector("uw-cuts")) table.open = false;
  }

  private layOut({ data, layout }: Figure, colours: readonly string[], width: number): object {
    const named = layout["frame"] ? null : nameLines(data, colours, layout["xaxis"] ?? {}, layout["yaxis"] ?? {}, width);
    const axis = { gridcolor: colour("--rule"), linecolor: colour("--rule-strong"), zerolinecolor: colour("--rule-strong"), automargin: true };
    // A figure's `frame` overrides the layout around it: more room, or a legend elsewhere.
    return {
      ...layout,
      frame: undefined,
      xaxis: { ...axis, ...layout["xaxis"] },
      yaxis: { ...axis, ...layout["yaxis"] },
      font: { family: getComputedStyle(this).getPropertyValue("--serif"), size: 14, color: colour("--ink") },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      // The legend grows upward if the names need several rows.
      legend: { orientation: "h", y: 1.02, yanchor: "bottom" },
      margin: { l: 56, r: named?.right ?? 16, t: 24, b: 48 },
      ...(named ? { annotations: named.annotations, showlegend: false } : {}),
      height: 340,
      ...layout["frame"],
    };
  }
}

function dress(traces: Trace[], colours: readonly string[]): Record<string, unknown>[] {
  return traces.map(({ fresh, ...trace }, index) => {
    const paint = colours[index];
    const size = fresh ? fresh.map((isFresh) => (isFresh ? 15 : 8)) : 8;
    const marker = trace["type"] === "bar" ? { color: paint } : { color: paint, symbol: MARKS[index % MARKS.length], size };
    // A figure may set its own shapes and dashes; the page sets the colours.
    return { ...trace, marker: { ...marker, ...(trace["marker"] ?? {}) }, line: { color: paint, ...(trace["line"] ?? {}) } };
  });
}
