// A tape as the server writes it, and its replay: after any step, which nodes are made or done, what is held, and
// where gradients are. The server follows the same rules (app/pictures/tape/state.py); a test compares every step.

export interface TapeDocument {
  engine: "torch" | "learner";
  /** How many operations there are when nothing is folded. */
  operations: number;
  start: number;
  steps: {
    node: (number | null)[];
    first: number[];
    last: number[];
    main: number[];
    name: string[];
    told: string[];
    /** The steps whose rule is written with numbers. */
    worked: [step: number, numbers: string][];
  };
  calls: [label: string, first: number, last: number][];
  events: {
    kind: string[];
    node: (number | null)[];
    call: number[];
    bytes: number[];
    norm: (number | null)[];
    before: string[];
    incoming: string[];
    outgoing: string[];
    seeds: [row: number, text: string][];
  };
  /** The numbers of small matrices, whose text elsewhere is their norm, by the place of that text: `incoming 12 0`. */
  matrices: [place: string, numbers: string][];
  nodes: {
    label: string[];
    kind: string[];
    variable: string[];
    module: string[];
    span: string[];
    shape: string[];
    dtype: string[];
    values: string[];
    saved: string[];
    saved_bytes: number[];
    refilled: [node: number, bytes: number][];
    formula: number[];
    formulas: string[];
    /** For each formula, the link to its explanation: address and text. */
    explained: ([href: string, words: string] | null)[];
  };
  edges: { source: number[]; target: number[]; slot: number[]; output: number[] };
  /** Operations that wrote in place, each with the one that failed because of it. */
  culprits: [writer: number, failed: number][];
  hosts: [helper: number, host: number][];
  holders: [node: number, words: string, bytes: number][];
  unreached: [node: number | null, words: string][];
}

const GRADIENT_LETTERS = 18;

interface Edge {
  target: number;
  slot: number;
  output: number;
}

/** A gradient's path between two nodes, as a key of a set. */
export function way(source: number, target: number): string {
  return `${source}>${target}`;
}

/** The state after `taken` steps. Stepping forward is cheap; stepping back replays from the beginning. */
export class Replay {
  taken = 0;
  kind = "";
  running = new Set<number>();
  unmade = new Set<number>();
  done = new Set<number>();
  freed = new Set<number>();
  failed = new Set<number>();
  held = new Map<number, number>();
  seeds = new Map<number, string>();
  flows = new Set<string>();
  fresh = new Set<string>();
  readonly runners = new Set<number>();
  private sent = new Map<number, Map<number, string[]>>();
  private sums = new Map<number, string[]>();
  private grads = new Map<number, string>();
  private adding = new Map<number, string>();
  /** The values of leaves that the program has changed so far. */
  private changed = new Map<number, string>();
  /** The rows of the tape that last changed a leaf's value, and a .grad. */
  private changedAt = new Map<number, number>();
  private gradAt = new Map<number, number>();
  private depth = 0;
  private readonly edges = new Map<number, Edge[]>();
  private readonly refilled: Map<number, number>;
  private readonly seedAt: Map<number, string>;
  private readonly matrices: Map<string, string>;

  constructor(readonly tape: TapeDocument) {
    const { source, target, slot, output } = tape.edges;
    source.forEach((from, row) => {
      const edges = this.edges.get(from) ?? [];
      edges.push({ target: target[row] ?? 0, slot: slot[row] ?? 0, output: output[row] ?? 0 });
      this.edges.set(from, edges);
    });
    for (const edges of this.edges.values()) edges.sort((one, other) => one.slot - other.slot);
    this.refilled = new Map(tape.nodes.refilled);
    this.seedAt = new Map(tape.events.seeds);
    this.matrices = new Map(tape.matrices);
    tape.events.kind.forEach((kind, row) => {
      const node = tape.events.node[row];
      if (typeof node === "number" && ["vjp", "accumulate", "capture"].includes(kind)) this.runners.add(node);
    });
    this.rewind();
  }

  get length(): number {
    return this.tape.steps.main.length;
  }

  go(taken: number): void {
    const wanted = Math.max(0, Math.min(taken, this.length));
    if (wanted < this.taken) this.rewind();
    while (this.taken < wanted) this.take(this.taken);
  }

  /** The bytes held for backward after the steps taken. */
  bytes(taken = this.taken): number {
    const row = taken > 0 ? this.tape.steps.last[taken - 1] : undefined;
    return row === undefined ? 0 : (this.tape.events.bytes[row] ?? 0);
  }

  /** A node that uses another's output; -1 if none does. */
  user(node: number): number {
    const row = this.tape.edges.target.indexOf(node);
    return row < 0 ? -1 : (this.tape.edges.source[row] ?? -1);
  }

  mostHeld(node: number): number {
    return Math.max(this.tape.nodes.saved_bytes[node] ?? 0, this.refilled.get(node) ?? 0);
  }

  fill(members: readonly number[]): number {
    const most = members.reduce((sum, node) => sum + this.mostHeld(node), 0);
    const held = members.reduce((sum, node) => sum + (this.held.get(node) ?? 0), 0);
    return most ? Math.min(1, held / most) : 0;
  }

  received(node: number): string[] {
    const outputs = [...(this.sent.get(node) ?? new Map<number, string[]>())].sort(([one], [other]) => one - other);
    const parts = outputs.flatMap(([, part]) => part);
    return writeSum(parts, (this.sums.get(node) ?? []).join("; "));
  }

  /** The second line of a leaf's pill; null if its .grad has not changed yet. */
  grad(leaf: number): string | null {
    const parts = [...(this.sent.get(leaf)?.values() ?? [])].flat();
    if (parts.length && !this.sums.has(leaf)) return `gets ${writeParts(parts)}`;
    return this.adding.get(leaf) ?? this.grads.get(leaf) ?? null;
  }

  /** A text of the tape, with the numbers of each matrix in it. */
  inFull(column: "before" | "incoming" | "outgoing", row: number): string {
    const parts = (this.tape.events[column][row] ?? "").split("; ");
    return parts.map((part, slot) => `${part} ${this.matrices.get(`${column} ${row} ${slot}`) ?? ""}`.trim()).join("; ");
  }

  /** What a .grad is at this step, or what is being added to it, with the numbers of each matrix. */
  gradInFull(node: number): string {
    const text = this.grad(node) ?? "";
    const row = this.gradAt.get(node);
    if (row === undefined || text.startsWith("gets ")) return text;
    const [before, incoming, outgoing] = (["before", "incoming", "outgoing"] as const).map((column) => dropShape(this.inFull(column, row)));
    if (text.startsWith("grad() gives ")) return `grad() gives ${incoming}`;
    if (!this.adding.has(node)) return `.grad = ${outgoing}`;
    return writeAdding(before ?? "", incoming ?? "");
  }

  /** What a node's output is at this step: a leaf may have been changed since it was met. */
  value(node: number): string {
    return this.changed.get(node) ?? this.tape.nodes.values[node] ?? "";
  }

  /** The same, with the numbers of a matrix. */
  valueInFull(node: number): string {
    const row = this.changedAt.get(node);
    if (row !== undefined) return dropShape(this.inFull("outgoing", row));
    return this.tape.nodes.values[node] || (this.matrices.get(`values ${node} 0`) ?? "");
  }

  private rewind(): void {
    const { kind, node } = this.tape.events;
    this.taken = 0;
    this.kind = "";
    this.depth = 0;
    const tables = [this.running, this.unmade, this.done, this.freed, this.failed, this.held, this.seeds];
    for (const table of [...tables, this.flows, this.fresh, this.sent, this.sums, this.grads, this.adding, this.changed, this.changedAt, this.gradAt]) table.clear();
    kind.forEach((word, row) => {
      const made = node[row];
      if (word === "record" && typeof made === "number") this.unmade.add(made);
    });
    this.tape.nodes.saved_bytes.forEach((count, made) => {
      if (!this.unmade.has(made)) this.held.set(made, count);
    });
  }

  private take(step: number): void {
    const { first, last, main, node } = this.tape.steps;
    const { kind, node: nodeAt } = this.tape.events;
    this.taken = step + 1;
    this.kind = kind[main[step] ?? 0] ?? "";
    this.fresh.clear();
    this.adding.clear();
    this.running.clear();
    const shown = node[step];
    if (typeof shown === "number") this.running.add(shown);
    for (let row = first[step] ?? 0; row <= (last[step] ?? -1); row += 1) {
      const about = nodeAt[row];
      if (kind[row] === this.kind && typeof about === "number") this.running.add(about);
      this.takeRow(row, kind[row] ?? "", about ?? null);
    }
  }

  private takeRow(row: number, kind: string, node: number | null): void {
    if (kind === "backward") this.begin(row, node);
    else if (kind === "end") this.depth = Math.max(0, this.depth - 1);
    if (node === null) return;
    if (kind === "record" || kind === "save" || kind === "free") this.hold(kind, node);
    else if (kind === "vjp" || kind === "accumulate" || kind === "capture") this.receive(row, kind, node);
    else this.change(row, kind, node);
  }

  private change(row: number, kind: string, node: number): void {
    const after = dropShape(this.tape.events.outgoing[row] ?? "");
    if (kind === "retain") {
      this.grads.set(node, `.grad = ${after}`);
      this.gradAt.set(node, row);
    } else if (kind === "update") {
      this.changed.set(node, after);
      this.changedAt.set(node, row);
    } else if (kind === "error") {
      this.failed.add(node);
      for (const [writer, failed] of this.tape.culprits) if (failed === node) this.failed.add(writer);
    }
  }

  private hold(kind: "record" | "save" | "free", node: number): void {
    if (kind === "record") {
      this.unmade.delete(node);
      this.held.set(node, this.tape.nodes.saved_bytes[node] ?? 0);
    } else if (kind === "save") {
      this.freed.delete(node);
      this.held.set(node, this.mostHeld(node));
    } else {
      this.freed.add(node);
      this.held.set(node, 0);
    }
  }

  /** A new backward call clears the gradients of the last one; a nested call does not. */
  private begin(row: number, node: number | null): void {
    if (this.depth === 0) {
      for (const table of [this.done, this.sent, this.sums, this.flows, this.seeds]) table.clear();
    }
    this.depth += 1;
    if (node !== null) this.seeds.set(node, this.seedAt.get(row) ?? "");
  }

  private receive(row: number, kind: string, node: number): void {
    const { incoming, outgoing, before } = this.tape.events;
    const sums = (incoming[row] ?? "").split("; ").map(dropShape);
    this.done.add(node);
    this.sums.set(node, sums);
    if (kind === "vjp") return this.send(row, node);
    this.gradAt.set(node, row);
    if (kind === "capture") {
      this.grads.set(node, `grad() gives ${sums[0]}`);
      return;
    }
    const was = dropShape(before[row] ?? "");
    this.adding.set(node, writeAdding(was, sums[0] ?? ""));
    this.grads.set(node, `.grad = ${dropShape(outgoing[row] ?? "")}`);
  }

  private send(row: number, node: number): void {
    const parts = (this.tape.events.outgoing[row] ?? "").split("; ");
    for (const { target, slot, output } of this.edges.get(node) ?? []) {
      const part = parts[slot] ?? "";
      if (part === "" || part === "·") continue;
      const outputs = this.sent.get(target) ?? new Map<number, string[]>();
      outputs.set(output, [...(outputs.get(output) ?? []), dropShape(part)]);
      this.sent.set(target, outputs);
      this.flows.add(way(node, target));
      this.fresh.add(way(node, target));
    }
  }
}

/** A rendered gradient without its shape: `(2,) [1.0, 1.0]` -> `[1.0, 1.0]`. */
export function dropShape(text: string): string {
  if (!text.startsWith("(")) return text;
  const closing = text.indexOf(") ");
  return closing < 0 ? text : text.slice(closing + 2);
}

function writeAdding(before: string, added: string): string {
  return `.grad${before === "" || before === "None" ? "" : ` ${before}`} += ${added}`;
}

function writeSum(parts: string[], total: string): string[] {
  if (parts.length < 2) {
    const text = total || parts.join("");
    return text ? [shorten(text, GRADIENT_LETTERS)] : [];
  }
  const line = parts.join(" + ") + (total ? ` = ${total}` : "");
  if (letters(line).length <= GRADIENT_LETTERS) return [line];
  const more = parts.length === 2 ? `+ ${parts[1]}` : `+ ${parts.length - 1} more`;
  return [parts[0] ?? "", more, ...(total ? [`= ${total}`] : [])].map((text) => shorten(text, GRADIENT_LETTERS));
}

function writeParts(parts: string[]): string {
  const line = parts.join(" + ");
  return parts.length < 3 || letters(line).length <= GRADIENT_LETTERS ? line : `${parts.length} parts`;
}

function letters(text: string): string[] {
  return [...text];
}

export function shorten(text: string, most: number): string {
  const all = letters(text);
  return all.length <= most ? text : `${all.slice(0, most - 1).join("").trimEnd()}…`;
}

/** Numbers written as ranges: `3-7 9`. */
export function readRanges(text: string | undefined): number[] {
  return (text ?? "").split(" ").flatMap((part) => {
    if (!part) return [];
    const [low = 0, high = low] = part.split("-").map(Number);
    return Array.from({ length: high - low + 1 }, (_, place) => low + place);
  });
}
