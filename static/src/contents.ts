// The chapter's contents: marks the section in view, and tells the server at which block the reader is.

import { make } from "./dom";

const KEEP_AFTER_MS = 2000;

export class ContentsElement extends HTMLElement {
  private timer = 0;

  connectedCallback(): void {
    // Beside the text the style sheet shows the list even when closed; a browser that cannot do that gets it opened.
    const details = this.querySelector("details");
    const isShown = CSS.supports("selector(::details-content)") || matchMedia("(width < 75rem)").matches;
    if (details && !isShown) details.open = true;
    const links = [...this.querySelectorAll<HTMLAnchorElement>('a[href^="#"]')];
    const sections = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
    const mark = (): void => {
      const line = innerHeight * 0.3;
      let current = -1;
      sections.forEach((section, index) => {
        if (section && section.getBoundingClientRect().top <= line) current = index;
      });
      links.forEach((link, index) => {
        if (index === current) link.setAttribute("aria-current", "location");
        else link.removeAttribute("aria-current");
      });
      this.keep();
    };
    let waiting = false;
    addEventListener(
      "scroll",
      () => {
        if (waiting) return;
        waiting = true;
        requestAnimationFrame(() => {
          waiting = false;
          mark();
        });
      },
      { passive: true },
    );
    // Somebody who comes back to a tab may find that the course has changed since.
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState !== "visible") return;
      kept = "";
      this.keep();
    });
    // Reading positions before the first frame would force another layout of the whole chapter.
    requestAnimationFrame(() => setTimeout(mark));
  }

  private keep(): void {
    const chapter = this.dataset["chapter"];
    if (!chapter) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const anchor = findPlace();
      if (anchor) void sendPlace(chapter, anchor, this.dataset["version"] ?? "");
    }, KEEP_AFTER_MS);
  }
}

/** The last heading or block that begins above a line near the top of the window, so that one goes on exactly there. */
function findPlace(): string {
  const blocks = document.querySelectorAll(".chapter > .text > [id]:not(a), .chapter > .text > .with-aside > [id]:not(a)");
  const passed = [...blocks].filter((block) => block.getBoundingClientRect().top <= innerHeight * 0.3);
  return passed.at(-1)?.id ?? "";
}

let kept = "";

async function sendPlace(chapter: string, anchor: string, version: string): Promise<void> {
  if (kept === anchor) return;
  kept = anchor;
  const body = JSON.stringify({ chapter, anchor });
  // The reader loses almost nothing if the place is not stored, so a failure stays silent.
  const init = { method: "PUT", headers: { "Content-Type": "application/json" }, body };
  const answer = await fetch("/api/position", init).catch(() => null);
  const now = answer?.headers.get("X-Unwind-Chapter");
  if (now && now !== version) sayChanged();
}

/** The server shows another version of this chapter by now: what is open here may not fit its forms any more. */
function sayChanged(): void {
  if (document.querySelector(".chapter-changed")) return;
  const link = make("a", { href: location.pathname }, "Reload it");
  const said = make("p", { role: "status" }, "This chapter has a new version. ", link, ".");
  const notice = make("aside", { class: "site-notice chapter-changed", "aria-label": "New version" }, said);
  document.querySelector("main")?.before(notice);
}
