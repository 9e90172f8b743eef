// The theme button: changes the page at once, and sets the cookie for the next page.

const ORDER = ["auto", "light", "dark"] as const;
const KEPT_SECONDS = 365 * 24 * 3600;

export class ThemeElement extends HTMLElement {
  connectedCallback(): void {
    this.addEventListener("submit", (event) => {
      event.preventDefault();
      const button = this.querySelector("button");
      if (button) this.change(button);
    });
  }

  private change(button: HTMLButtonElement): void {
    const chosen = button.value;
    document.documentElement.dataset["theme"] = chosen;
    const secure = location.protocol === "https:" ? "; Secure" : "";
    document.cookie = `unwind-theme=${chosen}; Path=/; Max-Age=${KEPT_SECONDS}; SameSite=Lax${secure}`;
    const place = ORDER.findIndex((name) => name === chosen);
    const following = ORDER[(place + 1) % ORDER.length] ?? "auto";
    button.value = following;
    button.title = `Theme: ${chosen}`;
    const words = button.querySelector(".visually-hidden");
    if (words) words.textContent = `Theme: ${chosen}. Change to ${following}`;
  }
}
