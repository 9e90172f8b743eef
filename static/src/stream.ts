// Reads server-sent events from a POST, which EventSource cannot send.

import { openedHeader } from "./opened";

/** What is said while nothing can run yet. */
export const NO_GRADER = "No grader is running just now. Your code is kept, and runs as soon as one starts.";

export interface ServerEvent {
  kind: string;
  data: unknown;
}

/** The server's refusal, in words: too many runs, a text that is too long, a missing sandbox. */
export class Refusal extends Error {}

export async function refusalOf(response: Response): Promise<Refusal> {
  const fallback = `The server answered ${response.status}. Try again in a moment.`;
  const body: unknown = await response.json().catch(() => null);
  return new Refusal(wordsIn(body) ?? fallback);
}

function wordsIn(body: unknown): string | null {
  if (typeof body !== "object" || body === null) return null;
  for (const name of ["message", "detail", "headline"]) {
    const words: unknown = Reflect.get(body, name);
    if (typeof words === "string") {
      const remedy: unknown = Reflect.get(body, "remedy");
      return typeof remedy === "string" && remedy ? `${words} ${remedy}` : words;
    }
  }
  return null;
}

/** Posts JSON and yields the response's events as they arrive. Throws Refusal if the server refuses. */
export async function* postForEvents(url: string, body: unknown, signal: AbortSignal): AsyncGenerator<ServerEvent> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/event-stream", ...openedHeader() },
    body: JSON.stringify(body),
    signal,
  });
  if (!response.ok || !response.body) throw await refusalOf(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).replaceAll("\r\n", "\n").split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = readEvent(block);
      if (event) yield event;
    }
  }
}

function readEvent(block: string): ServerEvent | null {
  let kind = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) kind = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  return data.length ? { kind, data: JSON.parse(data.join("\n")) } : null;
}
