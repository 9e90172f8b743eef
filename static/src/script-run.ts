// An exercise's file as a program: its run is followed, and what it prints is shown as it comes.

import { make } from "./dom";
import { NO_GRADER, postForEvents } from "./stream";
import type { OutputPiece } from "./wire";

/** The run's id, once it has ended. Throws Refusal if the server refuses. */
export async function followFile(
  asked: { source: string; exercise: string },
  place: HTMLElement,
  say: (words: string) => void,
): Promise<string> {
  let id = "";
  const listing = make("pre", { tabindex: "0" });
  for await (const { kind, data } of postForEvents("/api/runs", { ...asked, trace: false }, new AbortController().signal)) {
    if (kind === "accepted") id = (data as { id: string }).id;
    if (kind === "queued") say(waitingWords(data as { ahead: number; served: boolean }));
    if (kind === "output") {
      if (!listing.isConnected) place.replaceChildren(listing);
      listing.append((data as OutputPiece).text.replace(/^__losses__ .*\n?/gm, ""));
    }
  }
  return id;
}

function waitingWords(queued: { ahead: number; served: boolean }): string {
  if (!queued.served) return NO_GRADER;
  return queued.ahead > 0 ? `Waiting: ${queued.ahead} before yours` : "Running in the sandbox …";
}
