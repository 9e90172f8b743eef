// Draws a graph with nothing folded on a canvas: with its texts when zoomed in, as coloured marks when zoomed out.

import { colour } from "./charts";
import type { Paint } from "./player-colour";
import { type Replay, way } from "./player-tape";

export interface WholeDocument {
  width: number;
  height: number;
  boxes: { node: number[]; x: number[]; y: number[]; width: number[]; title: number[]; code: number[] };
  pills: { box: number[]; kind: string[]; node: number[]; x: number[]; y: number[]; width: number[]; words: number[] };
  edges: { from: number[]; to: number[]; points: number[][] };
  words: string[];
}

/** The visible part of the graph: its top left corner, and how many pixels a unit has. */
export interface Window {
  x: number;
  y: number;
  scale: number;
}

export interface Marks {
  chosen: number;
  pointed: number;
  lit: ReadonlySet<number>;
  paints: readonly (Paint | null)[];
}

export const BOX_HEIGHT = 48;
const PILL_HEIGHT = 20;
const LEGIBLE = 0.45;
const VISIBLE = 0.16;
const SMALLEST_MARK = 9;

const NAMES = [
  ...(["paper", "raised", "ink", "ink-soft", "accent", "forward", "forward-wash", "backward", "backward-wash"] as const),
  ...(["leaf", "leaf-wash", "cut", "cut-wash", "saved-fill", "saved-wash", "wrong", "wrong-wash"] as const),
];

type Palette = Record<(typeof NAMES)[number], string> & { serif: string; mono: string; shades: string[] };

function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const fonts = { serif: style.getPropertyValue("--serif"), mono: style.getPropertyValue("--mono") };
  const palette = Object.fromEntries(NAMES.map((name) => [name, colour(`--${name}`)])) as Record<(typeof NAMES)[number], string>;
  return { ...palette, ...fonts, shades: mixShades(palette.raised, palette["saved-fill"]) };
}

/** The nodes that each box represents, and the box of each node. */
export class Wholes {
  readonly members: number[][];
  readonly boxOf = new Map<number, number>();

  constructor(
    readonly shape: WholeDocument,
    hosts: readonly [helper: number, host: number][],
  ) {
    shape.boxes.node.forEach((node, box) => this.boxOf.set(node, box));
    this.members = shape.boxes.node.map((node) => [node]);
    for (const [helper, host] of hosts) {
      const box = this.boxOf.get(host);
      if (box === undefined) continue;
      this.boxOf.set(helper, box);
      this.members[box]?.push(helper);
    }
    // A leaf is beside its first user.
    shape.pills.node.forEach((node, pill) => {
      if (shape.pills.kind[pill] === "leaf" && !this.boxOf.has(node)) this.boxOf.set(node, shape.pills.box[pill] ?? -1);
    });
  }
}

export class Drawing {
  private palette = readPalette();

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly wholes: Wholes,
    private readonly replay: Replay,
  ) {}

  refresh(): void {
    this.palette = readPalette();
  }

  draw(window: Window, width: number, height: number, ratio: number, marks: Marks, stepping: boolean): void {
    const { context, palette } = this;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = palette.paper;
    context.fillRect(0, 0, width, height);
    const { x, y, scale } = window;
    context.setTransform(ratio * scale, 0, 0, ratio * scale, -x * scale * ratio, -y * scale * ratio);
    const seen = { left: x - 300, top: y - 60, right: x + width / scale, bottom: y + height / scale };
    this.drawEdges(seen, scale, stepping);
    if (scale > VISIBLE) this.drawPills(seen, scale, stepping);
    this.drawBoxes(seen, scale, marks, stepping);
    if (stepping) this.drawFront(scale);
    if (marks.chosen >= 0) this.ring(marks.chosen, palette.accent, scale);
  }

  private drawEdges(seen: Seen, scale: number, stepping: boolean): void {
    const { context, palette, replay } = this;
    const { edges, boxes } = this.wholes.shape;
    const paths = { made: new Path2D(), unmade: new Path2D(), done: new Path2D(), fresh: new Path2D() };
    edges.points.forEach((points, row) => {
      if (!crosses(points, seen)) return;
      const from = boxes.node[edges.from[row] ?? 0] ?? 0;
      const to = boxes.node[edges.to[row] ?? 0] ?? 0;
      const key = way(to, from);
      const path = !stepping
        ? paths.made
        : replay.fresh.has(key)
          ? paths.fresh
          : replay.flows.has(key)
            ? paths.done
            : replay.unmade.has(to)
              ? paths.unmade
              : paths.made;
      path.moveTo(points[0] ?? 0, points[1] ?? 0);
      for (let place = 2; place < points.length; place += 2) path.lineTo(points[place] ?? 0, points[place + 1] ?? 0);
    });
    const line = Math.max(1.6, 0.8 / scale);
    const styles = [
      [paths.unmade, palette.forward, line, 0.2],
      [paths.made, palette.forward, line, 0.8],
      [paths.done, palette.backward, line, 0.9],
      [paths.fresh, palette.backward, 2 * line, 1],
    ] as const;
    for (const [path, stroke, wide, alpha] of styles) {
      context.globalAlpha = alpha;
      context.strokeStyle = stroke;
      context.lineWidth = wide;
      context.stroke(path);
    }
    context.globalAlpha = 1;
  }

  private drawPills(seen: Seen, scale: number, stepping: boolean): void {
    const { context, palette, replay } = this;
    const { pills, boxes, words } = this.wholes.shape;
    context.font = `12px ${palette.mono}`;
    context.textBaseline = "middle";
    context.lineWidth = 1.4;
    pills.x.forEach((x, row) => {
      const y = pills.y[row] ?? 0;
      const width = pills.width[row] ?? 0;
      if (x > seen.right || x + width < seen.left || y > seen.bottom || y + PILL_HEIGHT < seen.top) return;
      const isCut = pills.kind[row] === "cut";
      const box = pills.box[row] ?? 0;
      context.globalAlpha = stepping && replay.unmade.has(boxes.node[box] ?? -1) ? 0.28 : 1;
      context.strokeStyle = isCut ? palette.cut : palette.leaf;
      context.fillStyle = isCut ? palette["cut-wash"] : palette["leaf-wash"];
      context.setLineDash(isCut ? [4, 3] : []);
      context.beginPath();
      context.moveTo(x, y + PILL_HEIGHT / 2);
      context.lineTo((boxes.x[box] ?? 0) + (boxes.width[box] ?? 0), y + PILL_HEIGHT / 2);
      context.stroke();
      context.beginPath();
      context.roundRect(x, y, width, PILL_HEIGHT, PILL_HEIGHT / 2);
      context.fill();
      if (!isCut && stepping && replay.done.has(pills.node[row] ?? -1)) {
        context.strokeStyle = palette.backward;
        context.lineWidth = 2.6;
      }
      context.stroke();
      context.lineWidth = 1.4;
      context.setLineDash([]);
      if (scale < LEGIBLE) return;
      context.fillStyle = isCut ? palette.ink : palette.leaf;
      context.fillText(`${isCut ? "✂ " : ""}${words[pills.words[row] ?? 0] ?? ""}`, x + 8, y + PILL_HEIGHT / 2 + 1);
    });
    context.globalAlpha = 1;
  }

  private drawBoxes(seen: Seen, scale: number, marks: Marks, stepping: boolean): void {
    const { boxes } = this.wholes.shape;
    boxes.x.forEach((x, box) => {
      const y = boxes.y[box] ?? 0;
      if (x > seen.right || y > seen.bottom || y + BOX_HEIGHT < seen.top || x + (boxes.width[box] ?? 0) < seen.left) return;
      this.drawBox(box, scale, marks, stepping);
    });
    this.context.globalAlpha = 1;
  }

  private drawBox(box: number, scale: number, marks: Marks, stepping: boolean): void {
    const { context, palette, replay } = this;
    const { boxes } = this.wholes.shape;
    const members = this.wholes.members[box] ?? [];
    const [x, y, width] = [boxes.x[box] ?? 0, boxes.y[box] ?? 0, boxes.width[box] ?? 0];
    const look = this.look(members, marks.paints[box] ?? null, stepping);
    context.globalAlpha = look.alpha;
    context.fillStyle = look.fill;
    context.strokeStyle = look.stroke;
    const isMarked = box === marks.pointed || marks.lit.has(box);
    context.lineWidth = Math.max(isMarked ? 3.4 : look.line, isMarked ? 1.6 / scale : 0.7 / scale);
    if (scale < VISIBLE) {
      context.fillStyle = look.far;
      context.fillRect(x, y, width, BOX_HEIGHT);
      if (isMarked) context.strokeRect(x, y, width, BOX_HEIGHT);
      return;
    }
    context.beginPath();
    context.roundRect(x, y, width, BOX_HEIGHT, 7);
    context.fill();
    context.stroke();
    const held = stepping ? replay.fill(members) : members.some((node) => replay.tape.nodes.saved_bytes[node]) ? 1 : 0;
    if (members.some((node) => replay.mostHeld(node))) {
      context.fillStyle = palette["saved-wash"];
      context.fillRect(x + 6, y + BOX_HEIGHT - 6, width - 12, 4);
      context.fillStyle = palette["saved-fill"];
      context.fillRect(x + 6, y + BOX_HEIGHT - 6, (width - 12) * held, 4);
    }
    if (scale >= LEGIBLE) this.write(box, marks.paints[box]?.words ?? "");
  }

  private write(box: number, words: string): void {
    const { context, palette } = this;
    const { boxes, words: texts } = this.wholes.shape;
    const [x, y] = [(boxes.x[box] ?? 0) + 12, boxes.y[box] ?? 0];
    context.textBaseline = "alphabetic";
    context.fillStyle = palette.ink;
    context.font = `650 16px ${palette.serif}`;
    context.fillText(texts[boxes.title[box] ?? 0] ?? "", x, y + 19);
    context.fillStyle = palette["ink-soft"];
    context.font = `12px ${palette.mono}`;
    context.fillText(texts[boxes.code[box] ?? 0] ?? "", x, y + 36);
    if (words) context.fillText(words, x, y - 5);
  }

  private look(members: readonly number[], paint: Paint | null, stepping: boolean): Look {
    const { palette, replay } = this;
    const plain = { fill: palette.raised, stroke: palette.forward, line: 1.4, alpha: 1, far: palette.forward };
    const shade = paint ? (palette.shades[paint.shade] ?? palette.raised) : palette.forward;
    const painted = paint ? { ...plain, fill: shade, far: paint.shade ? shade : palette.forward } : plain;
    const base = paint?.broken ? { ...plain, fill: palette["wrong-wash"], stroke: palette.wrong, line: 3, far: palette.wrong } : painted;
    if (!stepping) return base;
    if (members.every((node) => replay.unmade.has(node))) return { ...base, alpha: 0.28 };
    if (members.some((node) => replay.failed.has(node))) {
      return { ...base, fill: palette["wrong-wash"], stroke: palette.wrong, line: 3, far: palette.wrong };
    }
    if (members.some((node) => replay.running.has(node))) {
      return replay.kind === "record"
        ? { ...base, fill: palette["forward-wash"], line: 3, far: palette.forward }
        : { ...base, fill: palette["backward-wash"], stroke: palette.backward, line: 3, far: palette.backward };
    }
    const running = members.filter((node) => replay.runners.has(node));
    const isDone = running.length > 0 && running.every((node) => replay.done.has(node));
    return isDone ? { ...base, stroke: palette.backward, far: paint ? base.far : palette.backward } : base;
  }

  /** An outline around the running box, wide enough to be seen at any zoom. */
  private drawFront(scale: number): void {
    const boxes = new Set([...this.replay.running].map((node) => this.wholes.boxOf.get(node)));
    const stroke = this.replay.kind === "record" ? this.palette.forward : this.palette.backward;
    for (const box of boxes) if (box !== undefined) this.ring(box, stroke, scale);
  }

  private ring(box: number, stroke: string, scale: number): void {
    const { context } = this;
    const { boxes } = this.wholes.shape;
    const width = boxes.width[box] ?? 0;
    const [middle, centre] = [(boxes.x[box] ?? 0) + width / 2, (boxes.y[box] ?? 0) + BOX_HEIGHT / 2];
    const across = Math.max(width / 2 + 5, SMALLEST_MARK / scale);
    const down = Math.max(BOX_HEIGHT / 2 + 5, SMALLEST_MARK / scale);
    context.strokeStyle = stroke;
    context.lineWidth = Math.max(3, 2.4 / scale);
    context.beginPath();
    context.roundRect(middle - across, centre - down, 2 * across, 2 * down, Math.min(11, 6 / scale));
    context.stroke();
  }
}

interface Look {
  fill: string;
  stroke: string;
  line: number;
  alpha: number;
  /** The colour of the whole box when zoomed out. */
  far: string;
}

interface Seen {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** The same five shades as in the picture, mixed here because not every browser's canvas can mix colours. */
function mixShades(low: string, high: string): string[] {
  const [from, to] = [low, high].map((text) => (text.match(/[\d.]+/g) ?? []).map(Number));
  return [0, 0.18, 0.32, 0.46, 0.6].map((part) => {
    const mixed = [0, 1, 2].map((place) => Math.round((from?.[place] ?? 0) * (1 - part) + (to?.[place] ?? 0) * part));
    return `rgb(${mixed.join(" ")})`;
  });
}

function crosses(points: readonly number[], seen: Seen): boolean {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let place = 0; place < points.length; place += 2) {
    const [x, y] = [points[place] ?? 0, points[place + 1] ?? 0];
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  return left <= seen.right && right >= seen.left && top <= seen.bottom && bottom >= seen.top;
}
