// What the server says of a request that it refuses, in the words that every error of the API has.

/** The server's sentence; `gone` if there was no answer, or if what was asked for no longer exists. */
export async function readRefusal(answer: Response | null, gone: string): Promise<string> {
  if (!answer || answer.status === 404) return gone;
  const told = (await answer.json().catch(() => null)) as { message?: string } | null;
  return told?.message ?? gone;
}
