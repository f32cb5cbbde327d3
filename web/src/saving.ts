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

export function download(text: string, name: string) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
