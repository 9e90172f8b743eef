// The bank of exercises: its filters are links; this element changes the list in place, and the address with it.

import { renew } from "./fragment";

class BankElement extends HTMLElement {
  private filters = "";
  private readonly back = (): void => {
    // A link to an anchor within the page also causes this event.
    if (location.search !== this.filters) void this.show(location.href);
  };

  connectedCallback(): void {
    this.filters = location.search;
    this.addEventListener("click", (event) => this.follow(event));
    addEventListener("popstate", this.back);
  }

  disconnectedCallback(): void {
    removeEventListener("popstate", this.back);
  }

  private follow(event: MouseEvent): void {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link || link.hash || link.pathname !== location.pathname || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    history.pushState(null, "", link.href);
    void this.show(link.href, [...this.querySelectorAll(".bank-filter a")].indexOf(link));
  }

  /** `place` is the index of the clicked filter. It is stable, because the filters keep their order. */
  private async show(href: string, place = -1): Promise<void> {
    const headers = { "X-Unwind-Fragment": "1", Accept: "text/html" };
    const response = await fetch(href, { headers }).catch(() => null);
    const wasOpen = this.querySelector<HTMLDetailsElement>(".bank-fold")?.open ?? false;
    const fresh = response?.ok ? renew(this, await response.text()) : null;
    const fold = fresh?.querySelector<HTMLDetailsElement>(".bank-fold");
    if (fold && wasOpen) fold.open = true;
    if (!fresh) return location.assign(href);
    // The keyboard's focus stays on the same filter; a screen reader announces the count, which has a status role.
    const same = fresh.querySelectorAll<HTMLElement>(".bank-filter a")[place];
    (same ?? fresh.querySelector<HTMLElement>(".bank-shown"))?.focus({ preventScroll: true });
  }
}

export const definitions = [["uw-bank", BankElement]] as const;
