// Colours nodes by a number: the gradient's norm, the bytes held, or whether values are still finite. Each box shows
// its number as well, so that colour is never the only sign.

import { make } from "./dom";
import { writeBytes } from "./player-chart";
import type { TapeDocument } from "./player-tape";
import { readRanges } from "./player-tape";

const SVG = "http://www.w3.org/2000/svg";
const SHADES = 5;
const CHOICES = {
  "": "plain",
  norm: "by the gradient's norm",
  bytes: "by bytes held",
  finite: "by NaN and Inf",
};

type Metric = keyof typeof CHOICES;

export interface Paint {
  shade: number;
  broken: boolean;
  words: string;
}

export class Colouring {
  readonly element: HTMLElement;
  private readonly select: HTMLSelectElement;
  private readonly norms = new Map<number, number>();
  private readonly broken: Map<number, number>;

  constructor(
    private readonly tape: TapeDocument,
    changed: () => void,
  ) {
    this.select = make("select", { "aria-label": "Colour the nodes" });
    for (const [value, words] of Object.entries(CHOICES)) {
      if (value !== "bytes" || tape.engine === "torch") this.select.append(make("option", { value }, words));
    }
    this.select.addEventListener("change", changed);
    this.element = make("label", { class: "player-colouring" }, "Colour ", this.select);
    tape.events.kind.forEach((kind, row) => {
      const node = tape.events.node[row];
      const norm = tape.events.norm[row];
      if (kind === "vjp" && typeof node === "number" && typeof norm === "number") this.norms.set(node, norm);
    });
    this.broken = findBroken(tape);
  }

  /** The shade and the text of each box; null for a box without a value. */
  paint(boxes: readonly (readonly number[])[]): (Paint | null)[] {
    const metric = this.select.value as Metric;
    const found = boxes.map((members) => this.measure(metric, members));
    const values = found.filter((value) => value !== null);
    const scale = metric === "norm" ? spread(values.map(Math.log10).filter(Number.isFinite)) : spread(values);
    const first = [...this.broken.values()].reduce((one, other) => Math.min(one, other), Infinity);
    return found.map((value) => {
      if (value === null) return null;
      const shade = metric === "finite" ? 0 : scale(metric === "norm" ? Math.log10(value) : value);
      return { shade, broken: metric === "finite", words: words(metric, value, first) };
    });
  }

  /** Shades each box of a picture, and writes its number above its right corner. */
  show(svg: SVGSVGElement): void {
    for (const mark of svg.querySelectorAll(".metric")) mark.remove();
    const groups = [...svg.querySelectorAll<SVGGElement>("g.node[data-members]:not(.node-leaf)")];
    const paints = this.paint(groups.map((group) => readRanges(group.dataset["members"])));
    groups.forEach((group, place) => {
      const paint = paints[place];
      for (let shade = 0; shade < SHADES; shade += 1) group.classList.remove(`shade-${shade}`);
      group.classList.toggle("is-broken", paint?.broken ?? false);
      if (!paint) return;
      if (!paint.broken) group.classList.add(`shade-${paint.shade}`);
      write(group, paint.words);
    });
  }

  private measure(metric: Metric, members: readonly number[]): number | null {
    if (metric === "bytes") return members.reduce((sum, node) => sum + (this.tape.nodes.saved_bytes[node] ?? 0), 0);
    const table = metric === "norm" ? this.norms : metric === "finite" ? this.broken : null;
    const found = members.flatMap((node) => table?.get(node) ?? []);
    if (!found.length) return null;
    return metric === "norm" ? Math.max(...found) : Math.min(...found);
  }
}

function words(metric: Metric, value: number, first: number): string {
  if (metric === "bytes") return writeBytes(value);
  if (metric === "norm") return `‖ȳ‖ ${value.toPrecision(3)}`;
  return value === first ? "first NaN or Inf" : "NaN or Inf";
}

/** For each node whose output or gradient is not finite, the first step of the tape that shows it. */
function findBroken(tape: TapeDocument): Map<number, number> {
  const broken = new Map<number, number>();
  const note = (node: number, row: number, text: string): void => {
    if (/\b(nan|inf)\b/i.test(text) && !broken.has(node)) broken.set(node, row);
  };
  tape.events.kind.forEach((kind, row) => {
    const node = tape.events.node[row];
    if (typeof node !== "number") return;
    if (kind === "record") note(node, row, tape.nodes.values[node] ?? "");
    if (kind === "vjp") note(node, row, `${tape.events.incoming[row]} ${tape.events.outgoing[row]}`);
  });
  return broken;
}

function spread(values: number[]): (value: number) => number {
  // Not Math.min(...values), because a graph may have more boxes than a call may have arguments.
  const low = values.reduce((one, other) => Math.min(one, other), Infinity);
  const high = values.reduce((one, other) => Math.max(one, other), -Infinity);
  return (value) => {
    if (!Number.isFinite(value) || high <= low) return 0;
    return Math.min(SHADES - 1, Math.floor(((value - low) / (high - low)) * SHADES));
  };
}

function write(group: SVGGElement, words: string): void {
  const shape = group.querySelector<SVGGraphicsElement>(":scope > .shape");
  if (!shape || !words) return;
  const [x, y, width] = ["x", "y", "width"].map((name) => Number(shape.getAttribute(name)));
  const text = document.createElementNS(SVG, "text");
  text.setAttribute("class", "metric mono");
  text.setAttribute("x", String((x ?? 0) + (width ?? 0) - 4));
  text.setAttribute("y", String((y ?? 0) - 4));
  text.setAttribute("text-anchor", "end");
  text.setAttribute("font-size", "11");
  text.textContent = words;
  group.append(text);
}
