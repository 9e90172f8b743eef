// Copy buttons on listings. Editors and printed output have none, nor has a question's code, which is for reading.

const SHOWN_MS = 1500;

export function addCopyButtons(root: ParentNode): void {
  for (const listing of root.querySelectorAll<HTMLPreElement>("pre:has(> code.highlight)")) {
    if (listing.closest(".listing, uw-question, uw-predict")) continue;
    const frame = document.createElement("div");
    frame.className = "listing";
    listing.before(frame);
    frame.append(listing, button(listing));
  }
}

function button(listing: HTMLPreElement): HTMLButtonElement {
  const copy = document.createElement("button");
  copy.type = "button";
  copy.className = "copy";
  copy.textContent = "Copy";
  copy.addEventListener("click", () => {
    const text = listing.dataset["source"] ?? listing.textContent ?? "";
    void navigator.clipboard.writeText(text).then(() => {
      copy.textContent = "Copied";
      setTimeout(() => (copy.textContent = "Copy"), SHOWN_MS);
    });
  });
  return copy;
}
