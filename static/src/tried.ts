// Keeps earlier measurements beside the new one: the rows of a table, the points of a chart.

export interface Trace {
  name?: string;
  x?: unknown[];
  y?: unknown[];
  /** Which points the last run added. */
  fresh?: boolean[];
  [other: string]: unknown;
}

/** Puts the old table's rows before those that only the new one has, and marks the new rows. */
export function keepRows(before: Element, now: Element): void {
  const body = now.querySelector("tbody");
  if (!body) return;
  const old = rowsOf(before);
  const fresh = rowsOf(now);
  const tried = new Set(old.map(textOf));
  const added = fresh.filter((row) => !tried.has(textOf(row)));
  // If the new list was tried before, no row is added: the last of the new rows is marked at its old place.
  const again = added.length ? undefined : fresh.at(-1);
  const shown = again ? old.filter((row) => textOf(row) === textOf(again)) : added;
  for (const row of old) unmark(row);
  body.replaceChildren(...old, ...added);
  for (const row of shown) mark(row);
}

function rowsOf(table: Element): HTMLTableRowElement[] {
  return [...table.querySelectorAll<HTMLTableRowElement>("tbody tr")];
}

function textOf(row: HTMLTableRowElement): string {
  return [...row.cells].map((cell) => cell.firstChild?.textContent?.trim() ?? "").join("\t");
}

function mark(row: HTMLTableRowElement): void {
  row.classList.add("is-fresh");
  const words = document.createElement("span");
  words.className = "fresh-mark";
  words.textContent = "just now";
  row.cells[0]?.append(words);
}

function unmark(row: HTMLTableRowElement): void {
  row.classList.remove("is-fresh");
  row.querySelector(".fresh-mark")?.remove();
}

/** The points of both, series by series. Those of the last run are marked, even on top of an older point. */
export function keepPoints(before: readonly Trace[], now: readonly Trace[]): Trace[] {
  const names = new Set(now.map(({ name }) => name));
  const others = before.filter(({ name }) => !names.has(name));
  const resting = others.map((trace) => ({ ...trace, fresh: (trace.x ?? []).map(() => false) }));
  return [...resting, ...now.map((trace) => joinPoints(before, trace))];
}

function joinPoints(before: readonly Trace[], trace: Trace): Trace {
  const old = pointsOf(before.find((one) => one.name === trace.name));
  const tried = new Set(old.map(String));
  const measured = pointsOf(trace);
  const added = measured.filter((point) => !tried.has(String(point)));
  const points = [...old, ...added];
  const marked = new Set((added.length ? added : measured.slice(-1)).map(String));
  return {
    ...trace,
    x: points.map(([x]) => x),
    y: points.map(([, y]) => y),
    fresh: points.map((point) => marked.has(String(point))),
  };
}

function pointsOf(trace: Trace | undefined): [unknown, unknown][] {
  return (trace?.x ?? []).map((x, index) => [x, trace?.y?.[index]]);
}
