// An interactive picture of a graph: hover or focus a node and its code lights up, and the other way round.
// The picture comes from the server as SVG; this element adds nothing to it but classes and the keyboard.

import { offerMap } from "./graph-map";
import { offerSizes } from "./graph-size";
import { keepInView } from "./player-list";
import { covers, readSpans, size, type Span } from "./spans";

const CODE_LIT = "uw-lit";

export class GraphElement extends HTMLElement {
  private chosen: SVGGElement | null = null;

  connectedCallback(): void {
    this.addEventListener("pointerover", (event) => this.point(nodeAt(event.target)));
    this.addEventListener("pointerleave", () => this.point(null));
    this.addEventListener("focusin", (event) => this.enter(nodeAt(event.target)));
    this.addEventListener("focusout", () => this.point(null));
    this.addEventListener("click", (event) => this.choose(nodeAt(event.target)));
    this.addEventListener("keydown", (event) => this.step(event));
    this.wake();
  }

  /** Shows a run's picture. `words` describes the graph as text. */
  show(svg: string, words: string): void {
    const scroll = document.createElement("div");
    scroll.className = "graph-scroll";
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "group");
    scroll.setAttribute("aria-label", "Picture of the graph");
    // The server draws it and escapes every text of the learner's in it; the policy also forbids script.
    scroll.innerHTML = svg;
    this.replaceChildren(scroll, ...inWords(words));
    this.wake();
  }

  /** Shows a sentence instead of a picture. */
  say(sentence: string): void {
    const words = document.createElement("p");
    words.className = "graph-waiting";
    words.textContent = sentence;
    this.replaceChildren(words);
  }

  /** Offers the picture's sizes and a map of it. The Tab key stops once at the picture, at a node that is not hidden; arrows go on. */
  offerSizes(): void {
    const scroll = this.querySelector<HTMLElement>(".graph-scroll");
    if (scroll) {
      offerSizes(scroll);
      offerMap(scroll);
    }
    const shown = this.nodes().filter((node) => !node.classList.contains("is-elsewhere"));
    for (const node of this.nodes()) node.setAttribute("tabindex", node === shown[0] ? "0" : "-1");
  }

  /** Lights the nodes of the smallest expression at a place in the code. */
  lightAt(place: { line: number; column: number } | null): void {
    this.dispatchEvent(new CustomEvent("uw-lit-at", { detail: place }));
    const found = place ? this.at(place.line, place.column) : [];
    for (const node of this.nodes()) node.classList.toggle("is-lit", found.includes(node));
  }

  /** Marks places in the listing beside the picture, if there is one, and scrolls the first into view. */
  lightCode(spans: readonly Span[]): void {
    const listing = this.listing();
    lightListing(listing, spans);
    const line = listing?.querySelector(`[data-line="${spans[0]?.line ?? 0}"]`);
    if (listing && line) keepInView(listing, line);
  }

  private at(line: number, column: number): SVGGElement[] {
    const hits = this.nodes().flatMap((node) =>
      readSpans(node.dataset["span"])
        .filter((span) => covers(span, line, column))
        .map((span) => ({ node, size: size(span) })),
    );
    const smallest = Math.min(...hits.map((hit) => hit.size));
    return hits.filter((hit) => hit.size === smallest).map((hit) => hit.node);
  }

  private nodes(): SVGGElement[] {
    return [...this.querySelectorAll<SVGGElement>("g.node[data-node]")];
  }

  private wake(): void {
    if (!this.querySelector("svg")) return;
    const details = document.createElement("p");
    details.className = "graph-details";
    details.setAttribute("aria-live", "polite");
    details.textContent = "Point at a node, or Tab to the picture and use the arrow keys.";
    const scroll = this.querySelector<HTMLElement>(".graph-scroll");
    scroll?.after(details);
    this.offerSizes();
    const listing = this.listing();
    listing?.addEventListener("pointermove", (event) => this.lightAt(placeIn(listing, event)));
    listing?.addEventListener("pointerleave", () => this.lightAt(null));
  }

  private point(node: SVGGElement | null): void {
    const spans = node ? readSpans(node.dataset["span"]) : [];
    for (const other of this.nodes()) other.classList.toggle("is-lit", other === node);
    this.dispatchEvent(new CustomEvent<Span[]>("uw-light", { detail: spans, bubbles: true }));
    lightListing(this.listing(), spans);
    const details = this.querySelector(".graph-details");
    if (node && details) details.textContent = words(node);
  }

  private enter(node: SVGGElement | null): void {
    if (!node) return;
    for (const other of this.nodes()) other.setAttribute("tabindex", other === node ? "0" : "-1");
    this.point(node);
  }

  private choose(node: SVGGElement | null): void {
    const index = node?.dataset["node"];
    if (!node || index === undefined) return;
    this.chosen?.classList.remove("is-chosen");
    node.classList.add("is-chosen");
    this.chosen = node;
    this.dispatchEvent(new CustomEvent<string>("uw-choose", { detail: index, bubbles: true }));
  }

  private step(event: KeyboardEvent): void {
    const node = nodeAt(event.target);
    if (!node) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      node.dispatchEvent(new MouseEvent("click", { bubbles: true }));
      return;
    }
    const by = this.closest("uw-player[data-tape]")
      ? { ArrowDown: 1, ArrowUp: -1 }[event.key] // In a player, left and right step through the tape.
      : { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    const nodes = this.nodes().filter((node) => !node.classList.contains("is-elsewhere"));
    nodes[(nodes.indexOf(node) + by + nodes.length) % nodes.length]?.focus();
  }

  private listing(): HTMLElement | null {
    return this.closest("figure")?.querySelector<HTMLElement>("pre[data-source]") ?? null;
  }
}

function nodeAt(target: EventTarget | null): SVGGElement | null {
  return target instanceof Element ? target.closest<SVGGElement>("g.node[data-node]") : null;
}

function words(node: SVGGElement): string {
  const title = node.querySelector(":scope > title")?.textContent;
  return title ?? node.getAttribute("aria-label") ?? node.textContent?.replace(/\s+/g, " ").trim() ?? "";
}

function inWords(text: string): HTMLElement[] {
  if (!text) return [];
  const details = document.createElement("details");
  details.className = "graph-words";
  const summary = document.createElement("summary");
  summary.textContent = "The graph in words";
  const listing = document.createElement("pre");
  listing.tabIndex = 0;
  listing.textContent = text;
  details.append(summary, listing);
  return [details];
}

function placeIn(listing: HTMLElement, event: PointerEvent): { line: number; column: number } | null {
  const caret = document.caretPositionFromPoint?.(event.clientX, event.clientY);
  const line = caret?.offsetNode.parentElement?.closest<HTMLElement>("[data-line]");
  if (!caret || !line || !listing.contains(line)) return null;
  const before = document.createRange();
  before.selectNodeContents(line);
  before.setEnd(caret.offsetNode, caret.offset);
  return { line: Number(line.dataset["line"]), column: [...before.toString()].length };
}

/** Marks parts of a listing without changing its elements. Browsers without the highlight API show no marks. */
function lightListing(listing: HTMLElement | null, spans: readonly Span[]): void {
  if (!("highlights" in CSS)) return;
  const ranges = listing ? spans.flatMap((span) => rangesOf(listing, span)) : [];
  if (ranges.length) CSS.highlights.set(CODE_LIT, new Highlight(...ranges));
  else CSS.highlights.delete(CODE_LIT);
}

function rangesOf(listing: HTMLElement, span: Span): Range[] {
  const ranges: Range[] = [];
  for (let number = span.line; number <= span.endLine; number += 1) {
    const line = listing.querySelector<HTMLElement>(`[data-line="${number}"]`);
    if (!line) continue;
    const length = [...(line.textContent ?? "")].length;
    const from = number === span.line ? span.column : 0;
    const to = number === span.endLine ? span.endColumn : length;
    const range = document.createRange();
    range.setStart(...spot(line, from));
    range.setEnd(...spot(line, to));
    ranges.push(range);
  }
  return ranges;
}

function spot(line: HTMLElement, column: number): [Node, number] {
  const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
  let left = column;
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const letters = [...(text.textContent ?? "")];
    if (left <= letters.length) return [text, letters.slice(0, left).join("").length];
    left -= letters.length;
  }
  return [line, line.childNodes.length];
}
