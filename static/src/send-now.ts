// A form that is only a step on the way, such as a launch's: it sends itself. Without script, a click sends it.

export function sendWaitingForm(root: ParentNode): void {
  root.querySelector<HTMLFormElement>("form[data-send-now]")?.requestSubmit();
}
