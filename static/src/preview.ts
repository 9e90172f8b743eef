// Only an author's preview loads this: a page whose course has changed reloads itself, and stays where it was.

export class PreviewElement extends HTMLElement {
  private source: EventSource | null = null;

  connectedCallback(): void {
    const own = this.dataset["version"];
    // The browser connects again by itself when the server was restarted.
    this.source = new EventSource("/preview/versions");
    this.source.addEventListener("version", (event: MessageEvent<string>) => {
      if (event.data !== own) location.reload();
    });
  }

  disconnectedCallback(): void {
    this.source?.close();
  }
}

customElements.define("uw-preview", PreviewElement);
