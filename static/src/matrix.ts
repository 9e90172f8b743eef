// Numbers as the tape writes them, laid out like a tensor, one row under another. A cell's colour has the number's sign
// and size; the number itself stays, so that colour is never the only sign.

import { make } from "./dom";

const SHADES = 5;
const FEW_COLUMNS = 4;
const MATRIX = /\[\[[^[\]…]*\](?:, \[[^[\]…]*\])*\]/g;

/** The elements for rendered values: a grid for each matrix that is written in full, text for everything else. */
export function layOutValue(text: string): (HTMLElement | string)[] {
  return text.split("; ").flatMap((part, place) => [...(place ? ["; "] : []), ...layOutPart(part)]);
}

function layOutPart(part: string): (HTMLElement | string)[] {
  // Of a tensor of three dimensions, a grid would show a slice as if it were all.
  if (part.includes("[[[")) return [part];
  const found: (HTMLElement | string)[] = [];
  let done = 0;
  for (const match of part.matchAll(MATRIX)) {
    const rows = match[0].slice(2, -2).split("], [").map((row) => row.split(", "));
    if (rows.some((row) => row.length !== rows[0]?.length)) continue;
    found.push(part.slice(done, match.index), makeGrid(rows));
    done = match.index + match[0].length;
  }
  return [...found, part.slice(done)].filter((piece) => piece !== "");
}

function makeGrid(rows: string[][]): HTMLElement {
  const sizes = rows.flat().map((number) => Math.abs(Number(number)));
  const most = Math.max(...sizes.filter(Number.isFinite));
  const lines = rows.map((row) => make("tr", {}, ...row.map((number) => make("td", shade(number, most), number))));
  const words = `Matrix of ${rows.length} by ${rows[0]?.length ?? 0}`;
  // Without a role, browsers take a table without headings for a means of layout and do not announce its rows.
  const table = make("table", { class: "matrix", role: "table", "aria-label": words }, make("tbody", {}, ...lines));
  if ((rows[0]?.length ?? 0) <= FEW_COLUMNS) return table;
  // A wide one scrolls by itself in a narrow panel, so the Tab key has to reach it.
  return make("div", { class: "matrix-frame", tabindex: "0", role: "group", "aria-label": words }, table);
}

/** The sign and, from 0 to 5, the size of a number among those of its matrix. */
function shade(text: string, most: number): Record<string, string> {
  if (/^(nan|-?inf)$/.test(text)) return { "data-sign": "none" };
  const number = Number(text);
  if (!Number.isFinite(number) || !number) return {};
  return { "data-sign": number < 0 ? "minus" : "plus", "data-shade": String(Math.ceil((Math.abs(number) / most) * SHADES)) };
}
