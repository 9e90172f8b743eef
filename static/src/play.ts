// The player's page: its code can be shared in a link, runs as the reader types, and can be exported as a picture.

import type { CellElement } from "./cell";
import { drawPng, writeSvg } from "./player-export";
import { wantsTyped } from "./typed";

// A link to code for the reader's own engine opens the page that runs it without torch.
const engineOf = (cell: CellElement) => (cell.dataset.flavour === "plain" ? "?flavour=plain" : "");

class PlayElement extends HTMLElement {
  connectedCallback(): void {
    // The cell's element comes with another script, perhaps a moment later.
    void customElements.whenDefined("uw-cell").then(() => this.wake());
  }

  private async wake(): Promise<void> {
    const tools = this.querySelector<HTMLElement>("[data-tools]");
    if (tools) tools.hidden = false;
    const shared = await readLink(location.hash);
    if (shared !== null) {
      this.cell().replaceText(shared);
      this.querySelector<HTMLElement>("[data-about]")?.setAttribute("hidden", "");
      this.querySelector("[aria-current]")?.removeAttribute("aria-current");
    }
    this.querySelector(".gallery [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
    if (wantsTyped()) void this.cell().rerun();
    this.querySelector("[data-share]")?.addEventListener("click", () => void this.share());
    this.addEventListener("uw-ran", (event) => this.offer((event as CustomEvent<string>).detail));
    for (const name of ["svg", "png"] as const) {
      this.querySelector(`[data-export='${name}']`)?.addEventListener("click", () => void this.export(name));
    }
  }

  private async share(): Promise<void> {
    const link = `${location.origin}/play${engineOf(this.cell())}${await writeLink(this.cell().text())}`;
    history.replaceState(null, "", link);
    const copied = await navigator.clipboard.writeText(link).then(
      () => true,
      () => false,
    );
    this.say(copied ? "The link is copied. The code is in the link itself; nothing is stored here." : "The link is in the address bar.");
  }

  private offer(run: string): void {
    const exports = this.querySelector<HTMLElement>("[data-exports]");
    if (exports) exports.hidden = !this.picture();
    for (const name of ["trace", "figure"]) {
      this.querySelector(`[data-export='${name}']`)?.setAttribute("href", `/api/runs/${run}/${name}`);
    }
  }

  private async export(kind: "svg" | "png"): Promise<void> {
    const picture = this.picture();
    if (!picture) return;
    const text = writeSvg(picture);
    try {
      const file = kind === "svg" ? new Blob([text], { type: "image/svg+xml" }) : await drawPng(text, picture);
      save(file, `graph.${kind}`);
    } catch {
      this.say("The picture is too large to export that way.");
    }
  }

  private picture(): SVGSVGElement | null {
    return this.querySelector<SVGSVGElement>("svg.graph-picture");
  }

  private say(words: string): void {
    const said = this.querySelector("[data-said]");
    if (said) said.textContent = words;
  }

  private cell(): CellElement {
    const cell = this.querySelector<CellElement>("uw-cell");
    if (!cell) throw new Error("uw-play lacks uw-cell");
    return cell;
  }
}

export const definitions = [["uw-play", PlayElement]] as const;

function save(file: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** The text, deflated and in base 64 for URLs, after a "#", so that no server ever sees it. */
export async function writeLink(text: string): Promise<string> {
  const bytes = await pass(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return `#code=${btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

const MAX_LETTERS = 65_536;

export async function readLink(hash: string): Promise<string | null> {
  const packed = new URLSearchParams(hash.slice(1)).get("code");
  if (!packed) return null;
  try {
    const letters = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = await pass(
      Uint8Array.from(letters, (letter) => letter.charCodeAt(0)),
      new DecompressionStream("deflate-raw"),
    );
    return new TextDecoder().decode(bytes).slice(0, MAX_LETTERS);
  } catch {
    return null;
  }
}

/** Reads a stream up to a limit, because a few bytes can unpack to very many. */
async function pass(bytes: Uint8Array<ArrayBuffer>, through: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const reader = new Blob([bytes]).stream().pipeThrough(through).getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for (let total = 0; total < 4 * MAX_LETTERS; ) {
    const { value, done } = await reader.read();
    if (done) break;
    parts.push(value);
    total += value.length;
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
