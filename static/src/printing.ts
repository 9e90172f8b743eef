// Charts are drawn when they come near. The key that prints draws them all first; a menu's "Print" cannot wait for
// that, and prints the tables of those that are not drawn yet.

interface Drawable extends Element {
  drawNow?(): Promise<void>;
}

export async function printWithCharts(wake: (name: string) => Promise<void>): Promise<void> {
  await wake("uw-measure");
  const charts = document.querySelectorAll<Drawable>("uw-measure[data-figure]");
  await Promise.allSettled([...charts].map((chart) => chart.drawNow?.()));
  window.print();
}
