// The question of a bug hunt besides the code: which kind of fault, and which line of the starter. Stored as a draft.

import { Draft } from "./drafts";

export interface Said {
  category: string;
  line: number | null;
}

export class DiagnosisFields {
  private readonly draft: Draft;

  constructor(private readonly fields: HTMLElement) {
    this.draft = new Draft(fields.dataset["diagnosis"] ?? "");
    fields.addEventListener("change", () => {
      this.draft.keep(JSON.stringify(this.said()));
      this.tell();
    });
    const left = this.draft.left();
    if (left !== null) this.choose(left);
    this.tell();
  }

  said(): Said {
    const line = this.chosen("line")?.value;
    return { category: this.chosen("category")?.value ?? "", line: line ? Number(line) : null };
  }

  private chosen(name: string): HTMLInputElement | null {
    return this.fields.querySelector<HTMLInputElement>(`input[name="${name}"]:checked`);
  }

  private choose(text: string): void {
    try {
      const kept = JSON.parse(text) as Partial<Said>;
      for (const [name, value] of Object.entries(kept)) {
        const field = this.fields.querySelector<HTMLInputElement>(`input[name="${CSS.escape(name)}"][value="${CSS.escape(String(value))}"]`);
        if (field) field.checked = true;
      }
    } catch {
      // A draft that cannot be read leaves nothing chosen.
    }
  }

  private tell(): void {
    const place = this.fields.querySelector("[data-marked]");
    const line = this.chosen("line");
    const code = line?.closest("label")?.querySelector("code")?.textContent?.trim() ?? "";
    if (place) place.textContent = line ? `Line ${line.value} is marked: ${code}` : "No line is marked yet.";
  }
}
