// A small map of a picture that is larger than its frame: the visible part is marked, and a click or a drag moves it.
// It is for pointers alone; the keyboard and screen readers have the picture itself.

import { make } from "./dom";

const SVG = "http://www.w3.org/2000/svg";
const MAX_WIDTH = 220;
const MAX_HEIGHT = 96;

/** Puts a map below a picture's scrolling frame. It shows only while the picture is larger than the frame. */
export function offerMap(scroll: HTMLElement): void {
  scroll.parentElement?.querySelector(":scope > .graph-map")?.remove();
  const picture = scroll.querySelector<SVGSVGElement>(":scope > svg");
  if (picture) scroll.after(new PictureMap(scroll, picture).element);
}

class PictureMap {
  readonly element = make("div", { class: "graph-map", "aria-hidden": "true", hidden: "" });
  private readonly view = makeShape("rect", { class: "map-view" });
  private readonly whole: DOMRect;
  /** From the pointer to the corner of the visible part, while it is dragged. */
  private grip: { x: number; y: number } | null = null;

  constructor(
    private readonly scroll: HTMLElement,
    private readonly picture: SVGSVGElement,
  ) {
    const { x, y, width, height } = picture.viewBox.baseVal;
    this.whole = new DOMRect(x, y, width, height);
    this.element.append(this.draw());
    this.element.addEventListener("pointerdown", (event) => this.hold(event));
    this.element.addEventListener("pointermove", (event) => this.drag(event));
    for (const end of ["pointerup", "pointercancel"]) this.element.addEventListener(end, () => (this.grip = null));
    scroll.addEventListener("scroll", () => this.show(), { passive: true });
    const sizes = new ResizeObserver(() => this.show());
    sizes.observe(scroll);
    sizes.observe(picture);
  }

  private draw(): SVGSVGElement {
    const { whole } = this;
    const scale = Math.min(MAX_WIDTH / whole.width, MAX_HEIGHT / whole.height);
    const map = makeShape("svg", {
      viewBox: [whole.x, whole.y, whole.width, whole.height].join(" "),
      width: String(Math.round(whole.width * scale)),
      height: String(Math.round(whole.height * scale)),
    });
    for (const shape of this.picture.querySelectorAll<SVGRectElement>("g.node:not(.is-elsewhere) > rect.shape")) {
      const places = ["x", "y", "width", "height"].map((name) => [name, shape.getAttribute(name) ?? "0"]);
      const kind = shape.closest(".node-leaf") ? "map-leaf" : "map-node";
      map.append(makeShape("rect", { class: kind, ...Object.fromEntries(places) }));
    }
    map.append(this.view);
    return map;
  }

  /** Marks the part of the picture that its frame shows now. */
  private show(): void {
    const { scroll, view } = this;
    this.element.hidden = scroll.scrollWidth <= scroll.clientWidth + 1 && scroll.scrollHeight <= scroll.clientHeight + 1;
    if (this.element.hidden) return;
    const { x, y, width, height } = this.read();
    for (const [name, value] of Object.entries({ x, y, width, height })) view.setAttribute(name, value.toFixed(1));
  }

  /** The visible part in the picture's units, and how many of them a pixel is. */
  private read(): { x: number; y: number; width: number; height: number; unit: number } {
    const { scroll, picture, whole } = this;
    const drawn = picture.getBoundingClientRect();
    const frame = scroll.getBoundingClientRect();
    const unit = whole.width / drawn.width;
    const left = Math.max(0, frame.left + scroll.clientLeft - drawn.left) * unit;
    const top = Math.max(0, frame.top + scroll.clientTop - drawn.top) * unit;
    const width = Math.min(scroll.clientWidth * unit, whole.width - left);
    const height = Math.min(scroll.clientHeight * unit, whole.height - top);
    return { x: whole.x + left, y: whole.y + top, width, height, unit };
  }

  private hold(event: PointerEvent): void {
    const point = this.locate(event);
    if (event.button !== 0 || !point) return;
    event.preventDefault();
    this.element.setPointerCapture(event.pointerId);
    const { x, y, width, height } = this.read();
    const isInside = point.x >= x && point.x <= x + width && point.y >= y && point.y <= y + height;
    this.grip = isInside ? { x: point.x - x, y: point.y - y } : { x: width / 2, y: height / 2 };
    this.drag(event);
  }

  private drag(event: PointerEvent): void {
    const point = this.locate(event);
    if (!this.grip || !point) return;
    const { x, y, unit } = this.read();
    this.scroll.scrollLeft += (point.x - this.grip.x - x) / unit;
    this.scroll.scrollTop += (point.y - this.grip.y - y) / unit;
    this.show();
  }

  /** A pointer's place in the picture's units. */
  private locate(event: PointerEvent): DOMPoint | null {
    const matrix = this.view.ownerSVGElement?.getScreenCTM();
    return matrix ? new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse()) : null;
  }
}

function makeShape<Name extends "svg" | "rect">(name: Name, attributes: Record<string, string>): SVGElementTagNameMap[Name] {
  const shape = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) shape.setAttribute(key, value);
  return shape;
}
