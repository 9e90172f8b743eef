// A measurement: its table is in the page; the chart is drawn when it comes near, with a library loaded then.

import { chooseColours } from "./chart-colours";
import { type Axis, nameLines } from "./chart-labels";
import { colour, loadedLibrary, loadLibrary, type Plotly } from "./charts";
import { elementIn } from "./fragment";
import { keepPoints, keepRows, type Trace } from "./tried";

interface Figure {
  data: Trace[];
  layout: Record<string, Axis>;
}

/** What a reader moves to measure again, beside the earlier results. */
const KEEPERS = "uw-cuts, uw-sliders";
const NEAR = "300px";
/** A line of more points has marks at some of them only, or the marks would hide the line. */
const MAX_MARKS = 16;
/** A page of A4 or Letter in pixels, with ordinary margins. */
const PAPER_WIDTH = 660;
// One shape per series, so that colour is never the only difference.
const MARKS = ["circle", "square", "diamond", "triangle-up", "x", "cross"];

export class MeasureElement extends HTMLElement {
  private watch: IntersectionObserver | null = null;
  private readonly repaint = () => void (this.hasAttribute("data-drawn") && this.draw());
  private readonly toPaper = () => this.drawForPaper();
  private readonly toScreen = () => this.drawForScreen();
  private readonly theme = new MutationObserver(this.repaint);

  connectedCallback(): void {
    this.addEventListener("uw-measured", (event) => this.take((event as CustomEvent<string>).detail));
    if (!this.dataset["figure"]) return;
    this.watch = new IntersectionObserver((entries) => this.near(entries), { rootMargin: NEAR, scrollMargin: NEAR });
    this.watch.observe(this);
    this.theme.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", this.repaint);
    addEventListener("beforeprint", this.toPaper);
    addEventListener("afterprint", this.toScreen);
  }

  disconnectedCallback(): void {
    this.watch?.disconnect();
    this.theme.disconnect();
    matchMedia("(prefers-color-scheme: dark)").removeEventListener("change", this.repaint);
    removeEventListener("beforeprint", this.toPaper);
    removeEventListener("afterprint", this.toScreen);
  }

  /** After a new measurement, its table and chart replace these; the edited code stays. */
  private take(html: string): void {
    const fresh = elementIn(html);
    const now = fresh?.querySelector("figure");
    const before = this.querySelector("figure");
    if (!fresh || !now || !before) return;
    const figure = fresh.dataset["figure"] ?? "";
    const keeps = this.querySelector(KEEPERS) !== null;
    if (keeps) keepRows(before, now);
    if (figure) this.dataset["figure"] = keeps ? this.withPoints(figure) : figure;
    else delete this.dataset["figure"];
    const [shown, fold] = [before, now].map((one) => one.querySelector<HTMLDetailsElement>("[data-table]"));
    if (shown && fold) fold.open = shown.open;
    before.replaceWith(now);
    this.classList.add("is-live");
    if (figure) void this.draw();
  }

  /** If the measurement has cuts or sliders to move, earlier results stay in the chart. */
  private withPoints(figure: string): string {
    const now = JSON.parse(figure) as Figure;
    const before = JSON.parse(this.dataset["figure"] ?? '{"data":[]}') as Figure;
    const data = keepPoints(before.data, now.data);
    return JSON.stringify({ ...now, data, layout: { ...now.layout, showlegend: data.length > 1 } });
  }

  private near(entries: IntersectionObserverEntry[]): void {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    this.watch?.disconnect();
    void this.draw();
  }

  /** Without waiting for the chart to come near, if it is not drawn yet. */
  async drawNow(): Promise<void> {
    if (this.hasAttribute("data-drawn")) return;
    this.watch?.disconnect();
    await this.draw();
  }

  /** Light, and as wide as the paper. The browser prints right after this, so it must not wait for anything. */
  private drawForPaper(): void {
    const place = this.querySelector<HTMLElement>("[data-chart]");
    const plotly = loadedLibrary();
    if (!place || !plotly) return;
    void this.paint(plotly, place, "light", PAPER_WIDTH);
    this.toggleAttribute("data-drawn", true);
  }

  /** A chart in a closed fold has no size yet: it waits until it comes near again. */
  private drawForScreen(): void {
    if (!this.hasAttribute("data-drawn")) return;
    if (this.checkVisibility()) return void this.draw();
    this.toggleAttribute("data-drawn", false);
    this.watch?.observe(this);
  }

  private async paint(plotly: Plotly, place: HTMLElement, scheme = "", width?: number): Promise<void> {
    const figure = JSON.parse(this.dataset["figure"] ?? "{}") as Figure;
    place.hidden = false;
    const paints = (name: string): string => colour(name, scheme);
    const colours = chooseColours(figure.data.map((trace) => trace.name ?? "")).map(paints);
    const layout = { ...this.layOut(figure, colours, width ?? place.clientWidth, paints), width, autosize: width === undefined };
    await plotly.react(place, dress(figure.data, colours), layout, { displayModeBar: false, responsive: true });
  }

  private async draw(): Promise<void> {
    const place = this.querySelector<HTMLElement>("[data-chart]");
    if (!place || !this.isConnected) return;
    try {
      await this.paint(await loadLibrary(), place);
      this.foldTable();
      this.toggleAttribute("data-drawn", true);
    } catch {
      // Without the chart, the table shows the same numbers.
      place.hidden = true;
    }
  }

  /** Folds the table once the chart is drawn; it stays open if moving cuts adds a row to it. */
  private foldTable(): void {
    const table = this.querySelector<HTMLDetailsElement>("[data-table]");
    if (table && !this.hasAttribute("data-drawn") && !this.querySelector("uw-cuts")) table.open = false;
  }

  private layOut({ data, layout }: Figure, colours: readonly string[], width: number, paints: (name: string) => string): object {
    const named = layout["frame"] ? null : nameLines(data, colours, layout["xaxis"] ?? {}, layout["yaxis"] ?? {}, width);
    const axis = { gridcolor: paints("--rule"), linecolor: paints("--rule-strong"), zerolinecolor: paints("--rule-strong"), automargin: true };
    // A figure's `frame` overrides the layout around it: more room, or a legend elsewhere.
    return {
      ...layout,
      frame: undefined,
      xaxis: { ...axis, ...layout["xaxis"], title: setApart(layout["xaxis"]) },
      yaxis: { ...axis, ...layout["yaxis"], title: setApart(layout["yaxis"]) },
      font: { family: getComputedStyle(this).getPropertyValue("--serif"), size: 14, color: paints("--ink") },
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

/** An axis's title behind the longest of its marks, which may be turned. */
function setApart(axis: Axis | undefined): object {
  return { ...axis?.title, standoff: 12, font: { size: 14 } };
}

function dress(traces: Trace[], colours: readonly string[]): Record<string, unknown>[] {
  return traces.map(({ fresh, ...trace }, index) => {
    const paint = colours[index];
    const size = fresh ? fresh.map((isFresh) => (isFresh ? 15 : 8)) : 8;
    const shape = { color: paint, symbol: MARKS[index % MARKS.length], size };
    const isLine = trace["mode"] === "lines+markers";
    const marker = trace["type"] === "bar" ? { color: paint } : isLine ? { ...shape, maxdisplayed: MAX_MARKS } : shape;
    // A figure may set its own shapes and dashes; the page sets the colours.
    return { ...trace, marker: { ...marker, ...(trace["marker"] ?? {}) }, line: { color: paint, ...(trace["line"] ?? {}) } };
  });
}
