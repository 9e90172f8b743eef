// Draws a replay's state in the server's picture: classes, the texts at exits and in pills, bars, the wavefront.

import { PictureFrame } from "./player-frame";
import { readRanges, type Replay, shorten, way } from "./player-tape";

const SVG = "http://www.w3.org/2000/svg";
const LINE = "13";
const REST = "backward starts here";

interface Box {
  group: SVGGElement;
  members: number[];
  grad: SVGTextElement | null;
  /** A leaf's value, where its pill has room for it. */
  now: SVGTextElement | null;
  seed: SVGTextElement | null;
  bar: SVGRectElement | null;
  full: number;
  firstGrad: string;
}

interface Line {
  group: SVGGElement;
  from: number[];
  to: number[];
  ways: Set<string> | null;
}

interface Exit {
  group: SVGGElement;
  node: number;
  text: SVGTextElement | null;
}

export class PlayedPicture {
  private readonly boxes: Box[];
  private readonly lines: Line[];
  private readonly exits: Exit[];
  private readonly cuts: { group: SVGGElement; node: number }[];
  private readonly wavefront: SVGGElement | null;
  private readonly frame: PictureFrame;

  constructor(
    readonly svg: SVGSVGElement,
    replay: Replay,
  ) {
    this.boxes = groups(svg, "g.node[data-members]").map(readBox);
    this.exits = groups(svg, "g.exit").map((group) => ({
      group,
      node: Number(group.dataset["node"]),
      text: group.querySelector<SVGTextElement>(".received"),
    }));
    this.cuts = groups(svg, "g.node-cut[data-node]").map((group) => ({ group, node: Number(group.dataset["node"]) }));
    this.lines = this.readLines(replay);
    this.wavefront = svg.querySelector<SVGGElement>("g.wavefront");
    this.frame = new PictureFrame(svg);
  }

  /** The drawn boxes that the last step is about. */
  show(replay: Replay): SVGGElement[] {
    this.svg.classList.add("is-stepping");
    const now: SVGGElement[] = [];
    for (const box of this.boxes) {
      const isNow = box.members.some((node) => replay.running.has(node));
      if (isNow) now.push(box.group);
      this.showBox(box, replay, isNow);
    }
    for (const line of this.lines) showLine(line, replay);
    for (const { group, node, text } of this.exits) {
      toggle(group, "is-unmade", replay.unmade.has(node));
      if (text) write(text, replay.received(node));
    }
    for (const { group, node } of this.cuts) toggle(group, "is-unmade", replay.unmade.has(node));
    this.moveWavefront(now, replay.kind);
    return now;
  }

  /** Shows only the boxes that represent some of these nodes, as a graph of its own; null shows everything. */
  focus(nodes: ReadonlySet<number> | null): void {
    const isElsewhere = (members: readonly number[]): boolean => nodes !== null && !members.some((node) => nodes.has(node));
    for (const { group, members } of this.boxes) toggle(group, "is-elsewhere", isElsewhere(members));
    for (const { group, from, to } of this.lines) toggle(group, "is-elsewhere", isElsewhere(from) || isElsewhere(to));
    for (const { group, node } of [...this.exits, ...this.cuts]) toggle(group, "is-elsewhere", isElsewhere([node]));
    this.frame.crop();
  }

  /** The drawn box that represents a node. */
  find(node: number): SVGGElement | null {
    return this.boxes.find((box) => box.members.includes(node))?.group ?? null;
  }

  private showBox(box: Box, replay: Replay, isNow: boolean): void {
    const { group, members } = box;
    const running = members.filter((node) => replay.runners.has(node));
    const held = members.some((node) => replay.held.get(node));
    toggle(group, "is-unmade", members.every((node) => replay.unmade.has(node)));
    toggle(group, "is-recording", isNow && replay.kind === "record");
    toggle(group, "is-running", isNow && replay.kind !== "record");
    toggle(group, "is-done", running.length > 0 && running.every((node) => replay.done.has(node)));
    toggle(group, "is-freed", !held && members.some((node) => replay.freed.has(node)));
    toggle(group, "is-failed", members.some((node) => replay.failed.has(node)));
    if (box.bar) box.bar.setAttribute("width", write1(box.full * replay.fill(members)));
    if (box.grad) say(box.grad, replay.grad(members[0] ?? -1) ?? box.firstGrad);
    if (box.now) say(box.now, replay.value(members[0] ?? -1));
    if (box.seed) {
      const seed = members.map((node) => replay.seeds.get(node)).find(Boolean);
      say(box.seed, seed ? `starts with ${seed}` : REST);
    }
  }

  private readLines(replay: Replay): Line[] {
    const membersOf = new Map(this.boxes.map((box) => [box.group.id, box.members]));
    const between = new Map<string, Set<string>>();
    const boxesOf = new Map<number, string[]>();
    for (const { group, members } of this.boxes) {
      for (const node of members) boxesOf.set(node, [...(boxesOf.get(node) ?? []), group.id]);
    }
    const { source, target } = replay.tape.edges;
    source.forEach((from, row) => {
      const to = target[row] ?? 0;
      for (const one of boxesOf.get(from) ?? []) {
        for (const other of boxesOf.get(to) ?? []) {
          const key = `${one} ${other}`;
          between.set(key, (between.get(key) ?? new Set()).add(way(from, to)));
        }
      }
    });
    return groups(this.svg, "g.edge").map((group) => {
      const { from = "", to = "" } = group.dataset;
      return { group, from: membersOf.get(from) ?? [], to: membersOf.get(to) ?? [], ways: between.get(`${from} ${to}`) ?? null };
    });
  }

  private moveWavefront(now: readonly SVGGElement[], kind: string): void {
    const layer = this.wavefront;
    if (!layer) return;
    toggle(layer, "is-forward", kind === "record");
    while (layer.childElementCount > now.length) layer.lastElementChild?.remove();
    now.forEach((group, place) => {
      const shape = group.querySelector<SVGGraphicsElement>(":scope > .shape");
      if (!shape) return;
      const halo = (layer.children[place] as SVGRectElement | undefined) ?? addHalo(layer);
      const [x = 0, y = 0, width = 0, height = 0] = ["x", "y", "width", "height"].map((name) =>
        Number(shape.getAttribute(name)),
      );
      const places = { x: x - 4, y: y - 4, width: width + 8, height: height + 8 };
      for (const [name, value] of Object.entries(places)) halo.setAttribute(name, write1(value));
    });
  }
}

function readBox(group: SVGGElement): Box {
  const grad = group.querySelector<SVGTextElement>(":scope > .t-grad");
  const bar = group.querySelector<SVGRectElement>(":scope > .saved-bar");
  return {
    group,
    members: readRanges(group.dataset["members"]),
    grad,
    now: group.querySelector<SVGTextElement>(":scope > .t-now"),
    seed: group.querySelector<SVGTextElement>(":scope > .t-seed"),
    bar,
    full: Number(bar?.dataset["full"] ?? 0),
    firstGrad: grad?.textContent?.trim() ?? "",
  };
}

function showLine(line: Line, replay: Replay): void {
  const { group, from, ways } = line;
  toggle(group, "is-unmade", from.length > 0 && from.every((node) => replay.unmade.has(node)));
  toggle(group, "is-running", ways !== null && meets(ways, replay.fresh));
  toggle(group, "is-done", ways !== null && meets(ways, replay.flows));
}

function meets(ways: Set<string>, flows: Set<string>): boolean {
  const [few, many] = ways.size < flows.size ? [ways, flows] : [flows, ways];
  for (const key of few) if (many.has(key)) return true;
  return false;
}

function groups(svg: SVGSVGElement, selector: string): SVGGElement[] {
  return [...svg.querySelectorAll<SVGGElement>(selector)];
}

function toggle(element: Element, name: string, holds: boolean): void {
  if (element.classList.contains(name) !== holds) element.classList.toggle(name, holds);
}

function say(text: SVGTextElement, words: string): void {
  const short = shorten(words, Number(text.dataset["letters"] ?? 200));
  if (text.textContent !== short) text.textContent = short;
}

function write(text: SVGTextElement, lines: readonly string[]): void {
  if ([...text.children].map((line) => line.textContent).join("\n") === lines.join("\n")) return;
  const x = text.getAttribute("x") ?? "0";
  text.replaceChildren(
    ...lines.map((line, place) => {
      const row = document.createElementNS(SVG, "tspan");
      row.setAttribute("x", x);
      if (place) row.setAttribute("dy", LINE);
      row.textContent = line;
      return row;
    }),
  );
}

function write1(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function addHalo(layer: SVGGElement): SVGRectElement {
  const halo = document.createElementNS(SVG, "rect");
  halo.setAttribute("class", "halo");
  halo.setAttribute("rx", "11");
  halo.setAttribute("fill", "none");
  layer.append(halo);
  return halo;
}
