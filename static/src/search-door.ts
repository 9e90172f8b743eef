// Opens the search: by the header's link and by the key "/". Its script and its style come when it is first opened.

import { dressed } from "./later";

const load = dressed(() => import("./search"), "search.css");

export function listenForSearch(): void {
  document.querySelector<HTMLAnchorElement>("a.search-door")?.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    openSearch();
  });
}

/** Opens the dialog, or goes to the page of the search if its script cannot be loaded. */
export function openSearch(): boolean {
  const field = document.querySelector<HTMLInputElement>(".search-form input");
  if (field) field.focus();
  else void load().then(({ showSearch }) => showSearch()).catch(() => location.assign("/search"));
  return true;
}
