// The picture as an SVG file: the drawn elements with their style written into them.

const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-weight", "font-family", "text-anchor"];

export function svgText(svg: SVGSVGElement, width: number, height: number): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const drawn = svg.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((element, i) => {
    const style = getComputedStyle(drawn[i]!);
    for (const name of STYLES) element.setAttribute(name, style.getPropertyValue(name));
    for (const name of ["role", "tabindex", "class"]) element.removeAttribute(name);
  });
  copy.firstElementChild?.setAttribute("transform", "translate(20 20)");
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("viewBox", `0 0 ${width + 40} ${height + 40}`);
  copy.setAttribute("width", String(width + 40));
  copy.setAttribute("height", String(height + 40));
  return new XMLSerializer().serializeToString(copy);
}

/** The picture as a PNG, twice as fine as the screen. */
export async function png(text: string): Promise<Blob> {
  const picture = new Image();
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  picture.src = address;
  await picture.decode();
  URL.revokeObjectURL(address);
  const most = 16_000 / Math.max(picture.width, picture.height); // what a canvas can bear
  const times = Math.min(2, most);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [picture.width * times, picture.height * times];
  const context = canvas.getContext("2d")!;
  context.fillStyle = getComputedStyle(document.querySelector(".credo")!).backgroundColor;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((done, fail) => canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("The picture is too large."))), "image/png"));
}

export function download(what: BlobPart, name: string, type: string) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([what], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
