/** The words and their arcs as a picture to save. */

import { byId, element } from "../../../attention_maps/browser/dom.js";

const SCALE = 2; // pixels of a PNG for each of the page

/** The words and arcs as an SVG document with the colors of the page. */
function drawPicture() {
  const { clientWidth: width, clientHeight: height } = byId("arc-lines").parentElement;
  const { color } = getComputedStyle(document.body);
  const background = getComputedStyle(document.body).backgroundColor;
  const picture = element("svg:svg", { xmlns: "http://www.w3.org/2000/svg", width, height,
    viewBox: `0 0 ${width} ${height}` },
  element("svg:rect", { width: "100%", height: "100%", fill: background }));
  for (const arc of byId("arc-lines").querySelectorAll("path")) {
    const { stroke, strokeOpacity, strokeWidth } = getComputedStyle(arc);
    picture.append(element("svg:path", { d: arc.getAttribute("d"), fill: "none", stroke,
      "stroke-opacity": strokeOpacity, "stroke-width": strokeWidth, "stroke-linecap": "round" }));
  }
  for (const word of /** @type {NodeListOf<HTMLElement>} */ (
    document.querySelectorAll("#arcs .words .chip:not(.later)"))) {
    const { fontSize, fontFamily } = getComputedStyle(word);
    picture.append(element("svg:text", {
      x: word.offsetLeft + word.offsetWidth / 2, y: word.offsetTop + word.offsetHeight / 2,
      "text-anchor": "middle", "dominant-baseline": "central", fill: color,
      "font-size": fontSize, "font-family": fontFamily,
    }, word.innerText));
  }
  return { width, height, text: new XMLSerializer().serializeToString(picture) };
}

/** @param {"svg"|"png"} format */
export async function savePicture(format) {
  const { width, height, text } = drawPicture();
  const address = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  const link = element("a", { download: `translation.${format}`, href: address });
  if (format === "png") {
    const image = element("img", { src: address });
    await image.decode();
    const canvas = element("canvas", { width: SCALE * width, height: SCALE * height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    link.href = canvas.toDataURL("image/png");
  }
  link.click();
}
