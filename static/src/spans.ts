// Places in source text: lines count from 1 and columns from 0, as in the trace.

export interface Span {
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
}

/** Reads data-span="l,c,l,c"; several are separated by ";". */
export function readSpans(text: string | undefined): Span[] {
  if (!text) return [];
  return text.split(";").flatMap((part) => {
    const [line, column, endLine, endColumn] = part.split(",").map(Number);
    if (line === undefined || column === undefined || endLine === undefined || endColumn === undefined) return [];
    return [{ line, column, endLine, endColumn }];
  });
}

export function covers(span: Span, line: number, column: number): boolean {
  const afterStart = line > span.line || (line === span.line && column >= span.column);
  const beforeEnd = line < span.endLine || (line === span.endLine && column <= span.endColumn);
  return afterStart && beforeEnd;
}

export function size(span: Span): number {
  return (span.endLine - span.line) * 10_000 + span.endColumn - span.column;
}

/** The character offset of a place in a text. Columns count code points; strings count UTF-16 units. */
export function offsetOf(lines: readonly string[], line: number, column: number): number {
  const before = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
  const text = lines[line - 1] ?? "";
  return before + [...text].slice(0, column).join("").length;
}
