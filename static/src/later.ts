// Elements that wake when the first of them is in the window or, once the reader has done something, near it, because a
// page's first view needs little script. The script is fetched at the reader's first action, to be ready in time. Until an element wakes, or if it never does,
// it is the plain HTML that it enhances.

interface Module {
  definitions: readonly (readonly [name: string, element: CustomElementConstructor])[];
}
type Load = () => Promise<Module>;

const NEAR = "600px";
const MOVES = ["scroll", "pointerdown", "keydown"];

const work = dressed(() => import("./work"));
const measures: Load = () => import("./measures");
const questions: Load = () => import("./questions");

/** The scripts that each element needs; cuts, for example, write into a cell's code and run it. */
const NEEDS: Readonly<Record<string, readonly Load[]>> = {
  "uw-cell": [work],
  "uw-player": [work],
  "uw-graph": [work],
  "uw-measure": [measures],
  "uw-steps": [measures],
  "uw-cuts": [work, () => import("./cuts")],
  "uw-sliders": [work, () => import("./sliders")],
  "uw-predict": [questions],
  "uw-question": [questions],
  "uw-review": [questions],
  "uw-submission": [dressed(() => import("./submission"))],
  "uw-play": [() => import("./play")],
  "uw-bank": [() => import("./bank")],
};
const NAMES = Object.keys(NEEDS).join(",");

const coming = new Map<string, Promise<void>>();

/** Before the reader's first action only what is in the window wakes, so that a page's first view stays small. */
let watch = watchWithin("0px");

function watchWithin(margin: string): IntersectionObserver {
  return new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) void wake(target.localName);
    },
    // An exercise's answer is in a pane that scrolls by itself, where only scrollMargin looks ahead.
    { rootMargin: margin, scrollMargin: margin },
  );
}

/** Watches the elements of a page that are not awake yet, including those that arrive later (fragment.ts). */
export function watchPage(page: Document): void {
  watchFor(page.documentElement);
  const fetchAll = (): void => {
    for (const move of MOVES) removeEventListener(move, fetchAll);
    const names = new Set([...page.querySelectorAll(NAMES)].map((element) => element.localName));
    if (page.querySelector("a.report")) void import("./report").then(({ watchReportLinks }) => watchReportLinks(), () => null);
    for (const need of new Set([...names].flatMap((name) => NEEDS[name] ?? []))) need().catch(() => null);
    watch.disconnect();
    watch = watchWithin(NEAR);
    watchFor(page.documentElement);
  };
  for (const move of MOVES) addEventListener(move, fetchAll, { passive: true });
  page.addEventListener("uw-arrived", (event) => watchFor(event.target as Element));
}

function watchFor(root: Element): void {
  for (const element of [root, ...root.querySelectorAll(NAMES)]) {
    if (element.matches(NAMES) && !customElements.get(element.localName)) watch.observe(element);
  }
}

/** Wakes all elements of a name. A script that failed to load is requested again when the next one comes near. */
export function wake(name: string): Promise<void> {
  const awake = coming.get(name) ?? load(NEEDS[name] ?? []).catch(() => void coming.delete(name));
  coming.set(name, awake);
  return awake;
}

async function load(needs: readonly Load[]): Promise<void> {
  const modules = await Promise.all(needs.map((need) => need()));
  for (const [name, element] of modules.flatMap(({ definitions }) => definitions)) {
    if (customElements.get(name)) continue;
    for (const asleep of document.querySelectorAll(name)) watch.unobserve(asleep);
    customElements.define(name, element);
  }
}

/** Loads a script with its style sheet, and creates no element before both have loaded, so none is seen unstyled. */
export function dressed<Script>(script: () => Promise<Script>, sheet = "work.css"): () => Promise<Script> {
  return () => Promise.all([script(), loadStyle(sheet)]).then(([module]) => module);
}

const sheets = new Map<string, Promise<void>>();

/** Loads a style sheet once, unless the page already links to it. The elements also work without it. */
function loadStyle(sheet: string): Promise<void> {
  const coming = sheets.get(sheet) ?? bring(new URL(`./${sheet}`, import.meta.url).href);
  sheets.set(sheet, coming);
  return coming;
}

function bring(href: string): Promise<void> {
  return new Promise((resolve) => {
    if ([...document.styleSheets].some((sheet) => sheet.href === href)) return resolve();
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = href;
    link.onload = link.onerror = () => resolve();
    document.head.append(link);
  });
}
