// The part of a picture that is seen: all of it, or what is left when the nodes of one backward call are shown alone.

const ELSEWHERE = "is-elsewhere";
const MARGIN = 16;

export class PictureFrame {
  private readonly whole: DOMRect;

  constructor(private readonly svg: SVGSVGElement) {
    const { x, y, width, height } = svg.viewBox.baseVal;
    this.whole = new DOMRect(x, y, width, height);
  }

  /** Fits the picture to its groups that are not hidden. A frame with nothing in it is hidden as well. */
  crop(): void {
    const nodes = this.shown("g.node").map((group) => group.getBBox());
    for (const frame of this.svg.querySelectorAll<SVGGElement>("g.frame")) {
      frame.classList.remove(ELSEWHERE);
      const border = frame.getBBox();
      frame.classList.toggle(ELSEWHERE, !nodes.some((node) => holds(border, node)));
    }
    const isPart = this.svg.querySelector(`.${ELSEWHERE}`) !== null;
    const area = isPart ? this.measure() : this.whole;
    this.svg.setAttribute("viewBox", [area.x, area.y, area.width, area.height].map(Math.round).join(" "));
    this.svg.setAttribute("width", String(Math.round(area.width)));
    this.svg.setAttribute("height", String(Math.round(area.height)));
  }

  /** What the shown groups cover, within the whole picture. The whole, where the picture itself is not displayed. */
  private measure(): DOMRect {
    const boxes = this.shown("g.frame, g.edge, g.exit, g.node").map((group) => group.getBBox());
    const known = boxes.filter((box) => box.width > 0 || box.height > 0);
    if (!known.length) return this.whole;
    const left = Math.max(this.whole.left, Math.min(...known.map((box) => box.x)) - MARGIN);
    const top = Math.max(this.whole.top, Math.min(...known.map((box) => box.y)) - MARGIN);
    const right = Math.min(this.whole.right, Math.max(...known.map((box) => box.x + box.width)) + MARGIN);
    const bottom = Math.min(this.whole.bottom, Math.max(...known.map((box) => box.y + box.height)) + MARGIN);
    return new DOMRect(left, top, right - left, bottom - top);
  }

  private shown(selector: string): SVGGElement[] {
    return [...this.svg.querySelectorAll<SVGGElement>(selector)].filter((group) => !group.closest(`.${ELSEWHERE}`));
  }
}

function holds(outer: DOMRect, inner: DOMRect): boolean {
  const x = inner.x + inner.width / 2;
  const y = inner.y + inner.height / 2;
  return x >= outer.x && x <= outer.x + outer.width && y >= outer.y && y <= outer.y + outer.height;
}
