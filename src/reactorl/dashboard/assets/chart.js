// SPDX-License-Identifier: Apache-2.0
// A chart: lines and dots, with the values under the pointer.

const [WIDTH, HEIGHT] = [440, 170];
const [LEFT, RIGHT, TOP, BOTTOM] = [52, 14, 10, 24];

function element(name, attributes = {}, parent = null, text = null) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== null) made.textContent = text;
  parent?.append(made);
  return made;
}

function shape(name, attributes, parent, text = null) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== null) made.textContent = text;
  parent.append(made);
  return made;
}

// A number for people: four digits, thousands as k and M.
function short(value) {
  const size = Math.abs(value);
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (size >= 1e4) return `${Number((value / 1e3).toPrecision(3))}k`;
  if (size !== 0 && size < 1e-3) return value.toExponential(1);
  return String(Number(value.toPrecision(4)));
}

// Round numbers from low to high, about so many.
function ticks(low, high, about) {
  const raw = (high - low) / about;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= raw) ?? raw;
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) found.push(k * step);
  return found;
}

class Chart {
  constructor(parent) {
    this.root = element("section", { class: "panel chart" }, parent);
    this.title = element("h2", {}, this.root);
    this.legend = element("div", { class: "legend" }, this.root);
    this.svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    this.svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    this.svg.setAttribute("role", "img");
    this.root.append(this.svg);
    this.svg.addEventListener("pointermove", (event) => this.point(event));
    this.svg.addEventListener("pointerleave", () => this.cross?.replaceChildren());
  }

  show({ title, x, lines }) {
    this.data = { x, lines: lines.filter((line) => line.points.length > 0) };
    this.title.textContent = title;
    this.svg.setAttribute("aria-label", title);
    this.legend.hidden = lines.length < 2;
    this.legend.replaceChildren();
    lines.forEach((line, k) => element("span", { class: `c${k} ${line.kind}` }, this.legend, line.name));
    this.draw();
  }

  draw() {
    this.svg.replaceChildren();
    const { lines, x } = this.data;
    const all = lines.flatMap((line) => line.points);
    if (all.length === 0) {
      const place = { x: WIDTH / 2, y: HEIGHT / 2, "text-anchor": "middle", class: "none" };
      shape("text", place, this.svg, "no numbers yet");
      return;
    }
    const [xs, ys] = [all.map((p) => p[0]), all.map((p) => p[1])];
    const last = Math.max(...xs);
    let first = Math.min(...xs);
    if (first > 0 && first < last / 4) first = 0;
    let [low, high] = [Math.min(...ys), Math.max(...ys)];
    const room = (high - low || Math.abs(high) || 1) * 0.06;
    [low, high] = [low >= 0 && low - room < 0 ? 0 : low - room, high + room];
    this.px = (value) => LEFT + ((value - first) / (last - first || 1)) * (WIDTH - LEFT - RIGHT);
    this.py = (value) => HEIGHT - BOTTOM - ((value - low) / (high - low)) * (HEIGHT - TOP - BOTTOM);
    for (const tick of ticks(low, high, 4)) {
      const y = this.py(tick);
      shape("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y, y2: y, class: "grid" }, this.svg);
      shape("text", { x: LEFT - 7, y: y + 4, "text-anchor": "end" }, this.svg, short(tick));
    }
    const base = HEIGHT - BOTTOM;
    shape("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: base, y2: base, class: "axis" }, this.svg);
    for (const tick of last > first ? ticks(first, last, 5) : [first]) {
      const at = this.px(tick);
      const anchor = at > WIDTH - 34 ? "end" : at < LEFT + 8 ? "start" : "middle";
      const words = tick === 0 ? `0 ${x}` : short(tick);
      shape("text", { x: at, y: HEIGHT - 8, "text-anchor": anchor }, this.svg, words);
    }
    lines.forEach((line, k) => this.curve(line, k));
    this.cross = shape("g", {}, this.svg);
  }

  curve({ kind, points }, k) {
    if (kind === "line" && points.length > 1) {
      const path = points.map(([a, b]) => `${this.px(a).toFixed(1)} ${this.py(b).toFixed(1)}`);
      shape("path", { d: `M${path.join("L")}`, class: `line c${k}` }, this.svg);
      return;
    }
    for (const [a, b] of points) {
      shape("circle", { cx: this.px(a), cy: this.py(b), r: 3.6, class: `dot c${k}` }, this.svg);
    }
  }

  point(event) {
    const { lines, x } = this.data;
    if (lines.length === 0) return;
    const box = this.svg.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * WIDTH;
    const nearest = ({ points }) =>
      points.reduce((best, p) => (Math.abs(this.px(p[0]) - at) < Math.abs(this.px(best[0]) - at) ? p : best));
    this.cross.replaceChildren();
    const found = lines.map(nearest);
    const place = this.px(found[0][0]);
    shape("line", { x1: place, x2: place, y1: TOP, y2: HEIGHT - BOTTOM, class: "cross" }, this.cross);
    found.forEach(([a, b], k) => {
      shape("circle", { cx: this.px(a), cy: this.py(b), r: 3.6, class: `dot c${k}` }, this.cross);
    });
    const words = [`${short(found[0][0])} ${x}`, ...found.map(([, b]) => short(b))].join("  ·  ");
    const right = place > WIDTH / 2;
    const spot = { x: place + (right ? -8 : 8), y: TOP + 8, "text-anchor": right ? "end" : "start" };
    shape("text", spot, this.cross, words);
  }
}
