// The chart library: a separate file, loaded when the first chart comes near. It is large, and most pages have no chart.

export interface Plotly {
  react(place: HTMLElement, data: unknown[], layout: object, config: object): Promise<unknown>;
  relayout(place: HTMLElement, change: object): Promise<unknown>;
}

let library: Promise<Plotly> | null = null;

/** The library, if it has come. */
export function loadedLibrary(): Plotly | null {
  return (window as unknown as { Plotly?: Plotly }).Plotly ?? null;
}

export function loadLibrary(): Promise<Plotly> {
  library ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL("./plotly.js", import.meta.url).href;
    script.onload = () => resolve(loadedLibrary() as Plotly);
    script.onerror = () => reject(new Error("the chart library cannot be loaded"));
    document.head.append(script);
  });
  return library;
}

/** A colour of the theme as the browser computes it, because the library does not know light-dark(). */
export function colour(name: string, scheme = ""): string {
  const probe = document.createElement("span");
  probe.className = "colour-probe";
  probe.style.setProperty("color-scheme", scheme);
  probe.style.setProperty("color", `var(${name})`);
  document.body.append(probe);
  const computed = getComputedStyle(probe).color;
  probe.remove();
  return computed;
}
