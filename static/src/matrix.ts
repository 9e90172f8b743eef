// Numbers as the tape writes them, laid out like a tensor, one row under another.

import { make } from "./dom";

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
  const lines = rows.map((row) => make("tr", {}, ...row.map((number) => make("td", {}, number))));
  return make("table", { class: "matrix" }, make("tbody", {}, ...lines));
}
