// A graph with nothing folded, on a canvas: drag to move; zoom with the wheel, keys or buttons; select a node with a
// click or the arrows. A separate file, loaded when a reader opens the whole graph. A screen reader gets words under the
// canvas, and still has the tape's list, the search and the lists of nodes.

import { make } from "./dom";
import type { Paint } from "./player-colour";
import type { Replay } from "./player-tape";
import { covers, readSpans, size } from "./spans";
import { BOX_HEIGHT, Drawing, type WholeDocument, Wholes, type Window } from "./whole-draw";

export interface WholeEvents {
  /** A node was chosen, by a click or with Enter. */
  choose(node: number): void;
  /** The pointer is on a node, or on none (null). */
  point(node: number | null): void;
  close(): void;
}

const LARGEST = 1.6;
const READABLE = 0.85;
const ZOOM_STEP = 1.35;
const MAX_RATIO = 2;
const STILL_PIXELS = 5;

export class WholeView {
  readonly element: HTMLElement;
  private readonly canvas = make("canvas", { class: "whole-canvas", tabindex: "0", role: "application" });
  private readonly said = make("p", { class: "graph-details", "aria-live": "polite" });
  private readonly wholes: Wholes;
  private readonly drawing: Drawing;
  private readonly watcher: ResizeObserver;
  private readonly themes = new MutationObserver(() => this.repaint());
  private readonly scheme = matchMedia("(prefers-color-scheme: dark)");
  private window: Window = { x: 0, y: 0, scale: 1 };
  private size = { width: 0, height: 0 };
  private marks = { chosen: -1, pointed: -1, lit: new Set<number>(), paints: [] as readonly (Paint | null)[] };
  private fingers = new Map<number, { x: number; y: number }>();
  private moved = 0;
  private frame = 0;
  private stepping: boolean;
  private readonly repaint = (): void => {
    this.drawing.refresh();
    this.draw();
  };

  constructor(
    private readonly shape: WholeDocument,
    private readonly replay: Replay,
    private readonly events: WholeEvents,
    stepping: boolean,
  ) {
    const context = this.canvas.getContext("2d");
    if (!context) throw new Error("this browser cannot draw on a canvas");
    this.stepping = stepping;
    this.wholes = new Wholes(shape, replay.tape.hosts);
    const count = shape.boxes.x.length.toLocaleString("en");
    this.canvas.setAttribute("aria-label", `The whole graph: ${count} operations. The up and down arrows go from one to the next.`);
    this.said.textContent = `${count} operations. Drag to move; pinch, turn the wheel or press + and − to zoom, 0 for all of it. Click a node, or go from one to the next with the up and down arrows.`;
    this.element = make("div", { class: "whole" }, this.tools(), this.canvas, this.said);
    this.drawing = new Drawing(context, this.wholes, replay);
    this.listen();
    this.watcher = new ResizeObserver(() => this.resize());
    this.watcher.observe(this.canvas);
    this.themes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    this.scheme.addEventListener("change", this.repaint);
    void document.fonts.ready.then(this.repaint);
  }

  /** After a step: redraws, and centres the running box if it is out of view. */
  show(): void {
    this.stepping = true;
    const boxes = [...this.replay.running].flatMap((node) => this.wholes.boxOf.get(node) ?? []);
    const box = boxes[0];
    if (box !== undefined && !this.isSeen(box)) this.centre(box);
    this.draw();
  }

  colour(paint: (boxes: readonly (readonly number[])[]) => (Paint | null)[]): void {
    this.marks.paints = paint(this.wholes.members);
    this.draw();
  }

  /** Centres and selects a node; false if the graph does not show it. */
  find(node: number): boolean {
    const box = this.wholes.boxOf.get(node);
    if (box === undefined) return false;
    this.window.scale = Math.max(this.window.scale, READABLE);
    this.centre(box);
    this.choose(box);
    this.canvas.focus({ preventScroll: true });
    return true;
  }

  /** Marks the boxes of the smallest expression at a place in the code. */
  lightAt(place: { line: number; column: number } | null): void {
    const spans = this.replay.tape.nodes.span;
    const hits = !place
      ? []
      : this.shape.boxes.node.flatMap((node, box) => {
          const span = readSpans(spans[node])[0];
          return span && covers(span, place.line, place.column) ? [{ box, size: size(span) }] : [];
        });
    const smallest = hits.reduce((least, hit) => Math.min(least, hit.size), Infinity);
    this.marks.lit = new Set(hits.filter((hit) => hit.size === smallest).map((hit) => hit.box));
    this.draw();
  }

  close(): void {
    this.watcher.disconnect();
    this.themes.disconnect();
    this.scheme.removeEventListener("change", this.repaint);
    cancelAnimationFrame(this.frame);
    this.element.remove();
  }

  private tools(): HTMLElement {
    const button = (words: string, act: () => void): HTMLButtonElement => {
      const made = make("button", { type: "button", class: "button" }, words);
      made.addEventListener("click", act);
      return made;
    };
    return make(
      "div",
      { class: "whole-tools", role: "group", "aria-label": "The whole graph" },
      button("Zoom in", () => this.zoom(ZOOM_STEP)),
      button("Zoom out", () => this.zoom(1 / ZOOM_STEP)),
      button("Show all", () => this.fit()),
      button("Back to the folded picture", () => this.events.close()),
    );
  }

  private listen(): void {
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"] as const) {
      canvas.addEventListener(name, (event) => this.release(event));
    }
    canvas.addEventListener("pointerleave", () => this.point(-1));
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        // A wheel's notch and a touchpad's few pixels give the same zoom for the same distance.
        const pixels = event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 32 : 1);
        this.zoom(Math.exp(-pixels / 400), { x: event.offsetX, y: event.offsetY });
      },
      { passive: false },
    );
  }

  private press(event: PointerEvent): void {
    this.canvas.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    if (this.fingers.size === 1) this.moved = 0;
  }

  private move(event: PointerEvent): void {
    const here = { x: event.offsetX, y: event.offsetY };
    const before = this.fingers.get(event.pointerId);
    if (!before) return this.point(this.boxAt(here.x, here.y));
    const other = [...this.fingers].find(([id]) => id !== event.pointerId)?.[1];
    this.fingers.set(event.pointerId, here);
    this.moved += Math.hypot(here.x - before.x, here.y - before.y);
    const part = other ? 0.5 : 1; // With two fingers, each moves the graph by half.
    this.window.x -= (part * (here.x - before.x)) / this.window.scale;
    this.window.y -= (part * (here.y - before.y)) / this.window.scale;
    if (other) {
      const apart = Math.hypot(here.x - other.x, here.y - other.y) / Math.max(1, Math.hypot(before.x - other.x, before.y - other.y));
      this.zoom(apart, { x: (here.x + other.x) / 2, y: (here.y + other.y) / 2 });
    }
    this.draw();
  }

  private release(event: PointerEvent): void {
    const wasTap = this.fingers.size === 1 && this.moved < STILL_PIXELS && event.type === "pointerup";
    this.fingers.delete(event.pointerId);
    const box = wasTap ? this.boxAt(event.offsetX, event.offsetY) : -1;
    if (box < 0) return;
    this.choose(box);
    this.events.choose(this.shape.boxes.node[box] ?? -1);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = this.actOf(event);
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  private actOf(event: KeyboardEvent): (() => void) | null {
    const { key, shiftKey } = event;
    const far = 80 / this.window.scale;
    const ways: Record<string, [x: number, y: number]> = {
      ArrowLeft: [-far, 0],
      ArrowRight: [far, 0],
      ArrowUp: [0, -far],
      ArrowDown: [0, far],
    };
    const way = ways[key];
    // Only left and right step through the tape, as in the player's other pictures.
    if (way && shiftKey) return () => this.shift(...way);
    if (key === "ArrowDown") return () => this.walk(1);
    if (key === "ArrowUp") return () => this.walk(-1);
    if (key === "+" || key === "=") return () => this.zoom(ZOOM_STEP);
    if (key === "-" || key === "−") return () => this.zoom(1 / ZOOM_STEP);
    if (key === "0") return () => this.fit();
    if (key === "Escape") return () => this.events.close();
    if (key === "Enter" && this.marks.chosen >= 0) return () => this.events.choose(this.shape.boxes.node[this.marks.chosen] ?? -1);
    return null;
  }

  private shift(x: number, y: number): void {
    this.window.x += x;
    this.window.y += y;
    this.draw();
  }

  /** Goes to the next operation in the program's order, and zooms in if texts are unreadable. */
  private walk(by: number): void {
    const count = this.shape.boxes.x.length;
    const box = this.marks.chosen < 0 ? 0 : (this.marks.chosen + by + count) % count;
    const wasFar = this.window.scale < READABLE;
    if (wasFar) this.window.scale = READABLE;
    this.choose(box);
    if (wasFar || !this.isSeen(box)) this.centre(box);
    this.events.point(this.shape.boxes.node[box] ?? null);
  }

  private choose(box: number): void {
    this.marks.chosen = box;
    this.said.textContent = this.tell(box);
    this.draw();
  }

  private point(box: number): void {
    if (box === this.marks.pointed) return;
    this.marks.pointed = box;
    this.canvas.toggleAttribute("data-pointed", box >= 0);
    this.events.point(box < 0 ? null : (this.shape.boxes.node[box] ?? null));
    this.draw();
  }

  private tell(box: number): string {
    const node = this.shape.boxes.node[box] ?? 0;
    const { label, variable, shape, span, values } = this.replay.tape.nodes;
    const line = span[node]?.split(",")[0];
    const place = `${(box + 1).toLocaleString("en")} of ${this.shape.boxes.x.length.toLocaleString("en")}`;
    const gives = [variable[node] && `gives ${variable[node]}`, shape[node] && `shape ${shape[node]}`, values[node]];
    return [`${place}: ${label[node] ?? ""}`, line && `line ${line}`, ...gives].filter(Boolean).join(", ");
  }

  private boxAt(left: number, top: number): number {
    const { x, y, scale } = this.window;
    const [across, down] = [x + left / scale, y + top / scale];
    // When zoomed out, a box also reacts to a press a few pixels beyond its edge.
    const reach = Math.max(0, 4 / scale - 4);
    const { boxes } = this.shape;
    return boxes.x.findIndex((start, box) => {
      const height = boxes.y[box] ?? 0;
      const isAcross = across >= start - reach && across <= start + (boxes.width[box] ?? 0) + reach;
      return isAcross && down >= height - reach && down <= height + BOX_HEIGHT + reach;
    });
  }

  private isSeen(box: number): boolean {
    const { x, y, scale } = this.window;
    const left = ((this.shape.boxes.x[box] ?? 0) - x) * scale;
    const top = ((this.shape.boxes.y[box] ?? 0) - y) * scale;
    const right = left + (this.shape.boxes.width[box] ?? 0) * scale;
    return left >= 0 && top >= 0 && right <= this.size.width && top + BOX_HEIGHT * scale <= this.size.height;
  }

  private centre(box: number): void {
    const { scale } = this.window;
    this.window.x = (this.shape.boxes.x[box] ?? 0) + (this.shape.boxes.width[box] ?? 0) / 2 - this.size.width / scale / 2;
    this.window.y = (this.shape.boxes.y[box] ?? 0) + BOX_HEIGHT / 2 - this.size.height / scale / 2;
    this.draw();
  }

  private zoom(by: number, at = { x: this.size.width / 2, y: this.size.height / 2 }): void {
    const { window } = this;
    const scale = Math.min(LARGEST, Math.max(0.5 * this.fitting(), window.scale * by));
    window.x += at.x / window.scale - at.x / scale;
    window.y += at.y / window.scale - at.y / scale;
    window.scale = scale;
    this.draw();
  }

  private fitting(): number {
    const { width, height } = this.shape;
    return Math.min(1, this.size.width / Math.max(width, 1), this.size.height / Math.max(height, 1));
  }

  private fit(): void {
    const scale = this.fitting();
    const x = (this.shape.width - this.size.width / scale) / 2;
    const y = (this.shape.height - this.size.height / scale) / 2;
    this.window = { x, y, scale };
    this.draw();
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const wasEmpty = this.size.width === 0;
    this.size = { width, height };
    this.canvas.width = Math.round(width * ratio());
    this.canvas.height = Math.round(height * ratio());
    if (wasEmpty && width > 0) this.fit();
    this.draw();
  }

  private draw(): void {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.drawing.draw(this.window, this.size.width, this.size.height, ratio(), this.marks, this.stepping);
    });
  }
}

function ratio(): number {
  return Math.min(MAX_RATIO, globalThis.devicePixelRatio || 1);
}
