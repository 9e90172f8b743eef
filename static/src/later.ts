// Elements that wake when the first of them is near the window: a page's first view needs little of their script. It
// is fetched at the reader's first move, so that it is there by then. Until an element wakes, and where it never does,
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

/** What has to be there for each: cuts, for one, write into the code of a cell and run it. */
const NEEDS: Readonly<Record<string, readonly Load[]>> = {
  "uw-cell": [work],
  "uw-player": [work],
  "uw-graph": [work],
  "uw-measure": [measures],
  "uw-steps": [measures],
  "uw-cuts": [work, () => import("./cuts")],
  "uw-predict": [questions],
  "uw-question": [questions],
  "uw-submission": [dressed(() => import("./submission"))],
  "uw-play": [() => import("./play")],
  "uw-bank": [() => import("./bank")],
};
const NAMES = Object.keys(NEEDS).join(",");

const coming = new Map<string, Promise<void>>();
const watch = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) wake(target.localName);
  },
  { rootMargin: NEAR },
);

/** Watches for the elements of a page that are not awake yet, and of what arrives in it (fragment.ts). */
export function watchPage(page: Document): void {
  watchFor(page.documentElement);
  const fetchAll = (): void => {
    for (const move of MOVES) removeEventListener(move, fetchAll);
    const names = new Set([...page.querySelectorAll(NAMES)].map((element) => element.localName));
    for (const need of new Set([...names].flatMap((name) => NEEDS[name] ?? []))) need().catch(() => null);
  };
  for (const move of MOVES) addEventListener(move, fetchAll, { passive: true });
  page.addEventListener("uw-arrived", (event) => watchFor(event.target as Element));
}

function watchFor(root: Element): void {
  for (const element of [root, ...root.querySelectorAll(NAMES)]) {
    if (element.matches(NAMES) && !customElements.get(element.localName)) watch.observe(element);
  }
}

/** Wakes all elements of a name. What failed to load is asked for again when the next one comes near. */
function wake(name: string): void {
  if (coming.has(name)) return;
  coming.set(name, load(NEEDS[name] ?? []).catch(() => void coming.delete(name)));
}

async function load(needs: readonly Load[]): Promise<void> {
  const modules = await Promise.all(needs.map((need) => need()));
  for (const [name, element] of modules.flatMap(({ definitions }) => definitions)) {
    if (customElements.get(name)) continue;
    for (const asleep of document.querySelectorAll(name)) watch.unobserve(asleep);
    customElements.define(name, element);
  }
}

/** The style sheet comes with the script that it dresses, and before anything is made: nothing is seen undressed. */
function dressed(script: Load): Load {
  return () => Promise.all([script(), loadStyle()]).then(([module]) => module);
}

let style: Promise<void> | null = null;

/** Once, where the page has not named it itself. Without it the elements work all the same. */
function loadStyle(): Promise<void> {
  style ??= new Promise((resolve) => {
    const href = new URL("./work.css", import.meta.url).href;
    if ([...document.styleSheets].some((sheet) => sheet.href === href)) return resolve();
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = href;
    link.onload = link.onerror = () => resolve();
    document.head.append(link);
  });
  return style;
}
