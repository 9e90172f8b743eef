// Cases as they are judged, one line each: a list that the whole verdict replaces at the end.

interface Judged {
  idea?: string;
  passed?: boolean;
}

export class LiveCases {
  private count = 0;

  constructor(private readonly list: HTMLElement | null) {}

  clear(): void {
    this.count = 0;
    this.list?.replaceChildren();
    if (this.list) this.list.hidden = true;
  }

  /** How many have been judged, including this one. */
  add(judged: object): number {
    const { idea, passed } = judged as Judged;
    this.count += 1;
    if (this.list && idea !== undefined) {
      const row = document.createElement("li");
      row.className = passed ? "right" : "wrong";
      row.textContent = `${passed ? "✓ held" : "✗ failed"}: ${idea}`;
      this.list.append(row);
      this.list.hidden = false;
    }
    return this.count;
  }
}
