// Only an author's preview loads this: a page reloads when its course has changed, and keeps its scroll position.

export class PreviewElement extends HTMLElement {
  private source: EventSource | null = null;

  connectedCallback(): void {
    const own = this.dataset["version"];
    // The browser reconnects by itself after the server restarts.
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
