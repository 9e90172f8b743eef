// Names at the ends of lines, instead of a legend, if the ends are far enough apart to read.

import type { Trace } from "./tried";

const APART = 0.07;
const WIDE_ENOUGH = 440;
const LETTER = 8;

export interface Axis {
  title?: object;
  type?: string;
}

export interface Named {
  annotations: object[];
  /** The pixels on the right that the names need. */
  right: number;
}

/** An annotation for each line's last point; null if a legend must name the lines. */
export function nameLines(traces: readonly Trace[], colours: readonly string[], x: Axis, y: Axis, width: number): Named | null {
  if (traces.length < 2 || width < WIDE_ENOUGH || traces.some((trace) => trace["mode"] !== "lines+markers")) return null;
  const ends = traces.map((trace) => ({ x: trace.x?.at(-1), y: place(trace.y?.at(-1), y) }));
  const all = traces.flatMap((trace) => (trace.y ?? []).map((value) => place(value, y))).filter(Number.isFinite);
  const range = Math.max(...all) - Math.min(...all);
  const heights = ends.map((end) => end.y).sort((one, other) => one - other);
  const isCrowded = heights.some((height, index) => index > 0 && !(height - (heights[index - 1] ?? 0) > APART * range));
  if (isCrowded || !heights.every(Number.isFinite)) return null;
  const annotations = ends.map((end, index) => ({
    x: x.type === "category" ? end.x : place(end.x, x),
    y: end.y,
    text: traces[index]?.name ?? "",
    font: { color: colours[index] },
    showarrow: false,
    xanchor: "left",
    xshift: 9,
  }));
  return { annotations, right: 20 + LETTER * Math.max(...traces.map((trace) => trace.name?.length ?? 0)) };
}

/** A value's position on its axis: on a logarithmic axis, Plotly places annotations by the exponent. */
function place(value: unknown, axis: Axis): number {
  const number = typeof value === "number" ? value : Number.NaN;
  return axis.type === "log" ? Math.log10(number) : number;
}
