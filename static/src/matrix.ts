// Numbers as the tape writes them, laid out like a tensor, one row under another. A cell's colour has the number's sign
// and size; the number itself stays, so that colour is never the only sign.

import { make } from "./dom";

const SHADES = 5;
const SHAPE = /^(\([\d, ]*\)) (?=\[)/;

/** The elements for a rendered value: a grid for each small matrix in it, text for everything else. */
export function layOutValue(text: string): (HTMLElement | string)[] {
  return text.split("; ").flatMap((part, place) => {
    const shape = SHAPE.exec(part)?.[1] ?? "";
    const rows = readMatrix(part.replace(SHAPE, ""));
    const before = place ? ["; "] : [];
    if (!rows) return [...before, part];
    return [...before, ...(shape ? [`${shape} `] : []), makeGrid(rows)];
  });
}

/** The rows of a matrix that is written in full; null for anything else, including a matrix with numbers left out. */
function readMatrix(text: string): string[][] | null {
  if (!/^\[\[[^[\]…]*\](, \[[^[\]…]*\])*\]$/.test(text)) return null;
  const rows = text.slice(2, -2).split("], [").map((row) => row.split(", "));
  return rows.every((row) => row.length === rows[0]?.length) ? rows : null;
}

function makeGrid(rows: string[][]): HTMLElement {
  const sizes = rows.flat().map((number) => Math.abs(Number(number)));
  const most = Math.max(...sizes.filter(Number.isFinite));
  const lines = rows.map((row) => make("tr", {}, ...row.map((number) => make("td", shade(number, most), number))));
  const words = `Matrix of ${rows.length} by ${rows[0]?.length ?? 0}`;
  // Without a role, browsers take a table without headings for a means of layout and do not announce its rows.
  return make("table", { class: "matrix", role: "table", "aria-label": words }, make("tbody", {}, ...lines));
}

/** The sign and, from 0 to 5, the size of a number among those of its matrix. */
function shade(text: string, most: number): Record<string, string> {
  if (/^(nan|-?inf)$/.test(text)) return { "data-sign": "none" };
  const number = Number(text);
  if (!Number.isFinite(number) || !number) return {};
  return { "data-sign": number < 0 ? "minus" : "plus", "data-shade": String(Math.ceil((Math.abs(number) / most) * SHADES)) };
}
