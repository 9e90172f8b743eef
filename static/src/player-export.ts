// Exports a picture. The page's style rules are written into the copy, because a file has no style sheet.

const KEPT = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "stroke-linecap",
  "stroke-linejoin",
  "opacity",
  "display",
  "visibility",
  "paint-order",
  "font-family",
  "font-weight",
  "font-style",
  "text-decoration-line",
];
const MAX_PIXELS = 60_000_000;

export function writeSvg(picture: SVGSVGElement): string {
  const copy = picture.cloneNode(true) as SVGSVGElement;
  const originals = [picture, ...picture.querySelectorAll<SVGElement>("*")];
  const copies = [copy, ...copy.querySelectorAll<SVGElement>("*")];
  originals.forEach((original, place) => {
    const target = copies[place];
    if (target) writeStyle(original, target);
  });
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  paper.setAttribute("width", "100%");
  paper.setAttribute("height", "100%");
  paper.setAttribute("fill", getComputedStyle(document.body).getPropertyValue("background-color"));
  if (paper.getAttribute("fill") === "rgba(0, 0, 0, 0)") {
    paper.setAttribute("fill", getComputedStyle(document.documentElement).backgroundColor);
  }
  copy.prepend(paper);
  return new XMLSerializer().serializeToString(copy);
}

function writeStyle(original: SVGElement, target: SVGElement): void {
  const computed = getComputedStyle(original);
  for (const name of KEPT) {
    const value = computed.getPropertyValue(name);
    if (value && !target.hasAttribute(name)) target.setAttribute(name === "text-decoration-line" ? "text-decoration" : name, value);
  }
  target.removeAttribute("tabindex");
}

/** Twice as large as on the page, so that it is sharp on dense screens and in print. */
export async function drawPng(text: string, picture: SVGSVGElement): Promise<Blob> {
  const width = picture.viewBox.baseVal.width;
  const height = picture.viewBox.baseVal.height;
  const scale = Math.min(2, Math.sqrt(MAX_PIXELS / (width * height)));
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is too large"))), "image/png");
  });
}
