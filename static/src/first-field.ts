// The cursor is in a question's field at once: review.ts comes later, and what is typed until then would be lost. The
// page stays where it is (an autofocus attribute would scroll past the graph that the question is about).

const FIELD = "uw-review :is(.number-input, .text-input, textarea)";

export function focusFirstField(page: Document): void {
  page.querySelector<HTMLElement>(FIELD)?.focus({ preventScroll: true });
}
