// SPDX-License-Identifier: Apache-2.0
// From positions to SVG. Text is always inserted as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";
const CORNER = 5;

function make(name, attributes = {}, parent = null, text = null) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== null) element.textContent = text;
  parent?.append(element);
  return element;
}

class Drawing {
  constructor(layout, placed) {
    this.model = layout.model;
    this.layout = layout;
    this.root = make("g");
    this.spots = new Map(); // "b3" or "i5" -> where it is, and its element
    this.lines = new Map(); // item -> elements of its arrows
    this.heated = []; // elements that show how busy a reaction is
    this.edgesOnTop = [];
    this.crossed = new Set(layout.through.flatMap(({ source, target }) => [source, target]));
    const boxes = make("g", {}, this.root);
    this.arrows = make("g", {}, this.root);
    this.things = make("g", {}, this.root);
    this.boxes = boxes;
    for (const child of placed.children) this.node(child);
    for (const seen of layout.through) {
      const point = (id) => {
        const { x, y } = this.spots.get(`i${id}`);
        return { x: x + 5, y: y + 5 };
      };
      const [startPoint, endPoint] = [point(seen.source), point(seen.target)];
      this.edgesOnTop.push({ edge: { sections: [{ startPoint, endPoint }] }, seen });
    }
    // Loops are drawn last, so that nothing hides them.
    this.edgesOnTop.sort((a, b) => a.seen.loop - b.seen.loop);
    for (const { edge, seen } of this.edgesOnTop) this.edge(edge, seen);
    this.width = placed.width;
    this.height = placed.height;
  }

  node(node) {
    if (node.box !== undefined) this.box(node);
    else if (node.federate !== undefined) this.region(node);
    else if (this.model.items[node.item].kind === "mode") this.mode(node);
    else this.item(node);
    for (const child of node.children ?? []) this.node(child);
    for (const edge of node.edges ?? []) {
      this.edgesOnTop.push({ edge, seen: this.layout.seen.get(edge.id) });
    }
  }

  spot(key, node, element) {
    const { x, y, width, height } = node;
    this.spots.set(key, { x, y, width, height, element });
  }

  // -- boxes ------------------------------------------------------------------------

  box(node) {
    const { model } = this;
    const id = node.box;
    const bank = model.bankOf(id);
    const folded = bank !== undefined && !model.unfolded[bank] && this.layout.hasFold(id);
    const open = model.opened[id];
    const colour = model.colour(model.boxes[id].federate);
    const kind = `reactorl-box${open ? " reactorl-open" : ""}${colour}`;
    const group = make("g", { class: kind, "data-box": id }, this.boxes);
    node.y -= node.header ?? 0;
    node.height += node.header ?? 0;
    const { x, y, width, height } = node;
    const rect = (dx, name) =>
      make("rect", { x: x + dx, y: y + dx, width, height, rx: 7, class: name }, group);
    // The frame of an open reactor is transparent: find the last box behind it.
    if (folded && model.standsFor(id) > 1) [8, 4, 0].forEach((dx) => rect(dx, "reactorl-stack"));
    this.heated.push({ box: id, element: rect(0, "reactorl-frame") });
    const title = this.layout.boxTitle(id);
    const text = make("text", { x: x + 10, y: y + 17, class: "reactorl-title" }, group);
    make("tspan", {}, text, title.name);
    if (title.count) make("tspan", { class: "reactorl-count" }, text, title.count);
    if (title.cls) make("tspan", { class: "reactorl-class", dx: 7 }, text, title.cls);
    let right = x + width - 20;
    if (model.hasInside(id) && id !== 0) {
      this.button(group, right, y + 6, open ? "minus" : "plus", { "data-toggle": id });
      right -= 20;
    }
    if (this.layout.hasFold(id)) {
      this.button(group, right, y + 6, folded ? "unfold" : "fold", { "data-fold": bank });
    }
    const below = y + height + (folded ? 20 : 12);
    const label = make("text", { x: x + 6, y: below, class: "reactorl-mark" });
    group.append(label);
    this.heated[this.heated.length - 1].label = label;
    this.spot(`b${id}`, node, group);
    for (const port of node.ports ?? []) this.port(port, node, open);
  }

  button(parent, x, y, icon, data) {
    const names = { plus: "open", minus: "close", unfold: "show all members", fold: "fold the bank" };
    const group = make("g", { class: "reactorl-button", role: "button", tabindex: 0, ...data }, parent);
    make("title", {}, group, names[icon]);
    make("rect", { x, y, width: 14, height: 14, rx: 3 }, group);
    const lines = {
      plus: `M${x + 3.5} ${y + 7}h7M${x + 7} ${y + 3.5}v7`,
      minus: `M${x + 3.5} ${y + 7}h7`,
      unfold: `M${x + 3.5} ${y + 4}h7M${x + 3.5} ${y + 7}h7M${x + 3.5} ${y + 10}h7`,
      fold: `M${x + 4} ${y + 4}h4v4h-4zM${x + 6} ${y + 10}h4v-4`,
    };
    make("path", { d: lines[icon] }, group);
  }

  port(port, node, open) {
    const item = this.model.items[port.item];
    const input = item.kind === "input";
    const name = `reactorl-port${item.loop ? " reactorl-loop" : ""}`;
    const group = make("g", { class: name, "data-item": port.item }, this.things);
    const x = input ? node.x : node.x + node.width;
    const y = port.y + port.height / 2;
    const lineInside = open || this.crossed.has(port.item);
    make("path", { d: `M${x - 5} ${y - 5}l10 5l-10 5z` }, group);
    make("rect", { x: x - 8, y: y - 8, width: 16, height: 16, class: "reactorl-hit" }, group);
    const label = make(
      "text",
      {
        x: input ? x + 9 : x - 9,
        y: lineInside ? y - 5 : y + 3.5,
        "text-anchor": input ? "start" : "end",
      },
      group,
      item.name,
    );
    if (item.shown) make("tspan", { class: "reactorl-shown" }, label, item.shown);
    this.spot(`i${port.item}`, { x: x - 5, y: y - 5, width: 10, height: 10 }, group);
  }

  // Around the reactors in one that run in another federate.
  region(node) {
    const name = `reactorl-region${this.model.colour(node.federate)}`;
    const group = make("g", { class: name }, this.boxes);
    const { x, y, width, height } = node;
    make("rect", { x, y, width, height, rx: 12 }, group);
    const text = `federate ${this.model.federates[node.federate]}`;
    make("text", { x: x + 12, y: y + 17, class: "reactorl-title" }, group, text);
  }

  mode(node) {
    const item = this.model.items[node.item];
    const name = `reactorl-mode${item.shown === "initial" ? " reactorl-initial" : ""}`;
    const group = make("g", { class: name, "data-item": node.item }, this.boxes);
    const { x, y, width, height } = node;
    make("rect", { x, y, width, height, rx: 12 }, group);
    const text = make("text", { x: x + 12, y: y + 17, class: "reactorl-title" }, group);
    make("tspan", {}, text, item.name);
    if (item.shown) make("tspan", { class: "reactorl-class", dx: 7 }, text, item.shown);
    this.spot(`i${node.item}`, node, group);
  }

  // -- items ------------------------------------------------------------------------

  item(node) {
    const item = this.model.items[node.item];
    const kind = item.kind.split(" ").pop();
    const name = `reactorl-item reactorl-${kind}${item.loop ? " reactorl-loop" : ""}`;
    const group = make("g", { class: name, "data-item": node.item }, this.things);
    if (item.kind === "reaction") this.reaction(node, item, group);
    else this.pill(node, item, group);
    this.spot(`i${node.item}`, node, group);
  }

  reaction(node, item, group) {
    const { x, y, width: w, height: h } = node;
    const d = `M${x} ${y}h${w - 10}l10 ${h / 2}l-10 ${h / 2}h${10 - w}l7 ${-h / 2}z`;
    const shape = make("path", { d, class: "reactorl-shape" }, group);
    const line = y + (item.shown ? 17 : h / 2 + 4);
    make("text", { x: x + 18, y: line, class: "reactorl-number", "text-anchor": "middle" }, group, item.number);
    make("text", { x: x + 27, y: line }, group, item.name);
    if (item.shown) {
      make("text", { x: x + 27, y: y + 32, class: "reactorl-deadline" }, group, item.shown);
    }
    const at = { x: x + w / 2, y: y + h + 11, "text-anchor": "middle", class: "reactorl-mark" };
    const label = make("text", at, group);
    this.heated.push({ item: node.item, element: shape, label });
  }

  pill(node, item, group) {
    const { x, y, width, height } = node;
    make("rect", { x, y, width, height, rx: height / 2, class: "reactorl-shape" }, group);
    const [cx, cy] = [x + 14, y + height / 2];
    this.icon(item.kind, cx, cy, group);
    const text = make("text", { x: x + 25, y: cy + 4 }, group, item.name);
    if (item.shown) make("tspan", { class: "reactorl-shown", dx: 4 }, text, item.shown);
  }

  icon(kind, x, y, parent) {
    const group = make("g", { class: "reactorl-icon" }, parent);
    const letters = { "logical action": "L", "physical action": "P" };
    if (kind === "timer") {
      make("circle", { cx: x, cy: y, r: 6.5 }, group);
      make("path", { d: `M${x} ${y - 4}v4l2.5 2` }, group);
    } else if (letters[kind]) {
      make("path", { d: `M${x} ${y - 7}l7.5 13h-15z` }, group);
      make("text", { x, y: y + 4.5, "text-anchor": "middle" }, group, letters[kind]);
    } else if (kind === "startup") {
      make("circle", { cx: x, cy: y, r: 6, class: "reactorl-solid" }, group);
    } else if (kind === "shutdown") {
      make("path", { d: `M${x} ${y - 7}l7 7l-7 7l-7-7z`, class: "reactorl-solid" }, group);
    } else if (kind === "reset") {
      make("path", { d: `M${x + 5} ${y - 2}a5.5 5.5 0 1 0 0 4M${x + 6} ${y - 6}v4.5h-4.5` }, group);
    } else {
      make("path", { d: `M${x - 7} ${y}q7-8 14 0q-7 8-14 0z` }, group); // a watchdog's eye
      make("circle", { cx: x, cy: y, r: 2, class: "reactorl-solid" }, group);
    }
  }

  // -- arrows -----------------------------------------------------------------------

  edge(edge, seen) {
    const section = edge.sections?.[0];
    if (!section) return;
    const { kind, late, physical } = seen.edge;
    const names = [`reactorl-edge`, `reactorl-${kind}`];
    if (late) names.push("reactorl-late");
    if (physical) names.push("reactorl-physical");
    if (seen.crosses) names.push("reactorl-crossing");
    if (seen.loop) names.push("reactorl-loop");
    const group = make("g", { class: names.join(" "), "data-edge": seen.id }, this.arrows);
    const points = [section.startPoint, ...(section.bendPoints ?? []), section.endPoint];
    const d = rounded(points);
    make("path", { d, class: "reactorl-hit" }, group);
    make("path", { d, class: "reactorl-line" }, group);
    if (seen.ends && !this.model.isPort(seen.target)) this.arrowhead(points, group);
    for (const label of edge.labels ?? []) {
      const { x, y, width, height } = label;
      make("rect", { x, y, width, height, rx: 3, class: "reactorl-plate" }, group);
      const at = { x: x + width / 2, y: y + height - 3.5, "text-anchor": "middle" };
      make("text", at, group, label.text);
    }
    for (const item of [seen.source, seen.target]) {
      if (!this.lines.has(item)) this.lines.set(item, []);
      this.lines.get(item).push(group);
    }
  }

  arrowhead(points, group) {
    const [from, to] = points.slice(-2);
    const angle = (Math.atan2(to.y - from.y, to.x - from.x) * 180) / Math.PI;
    const transform = `translate(${to.x} ${to.y}) rotate(${angle})`;
    make("path", { d: "M-7 -3.5L0 0L-7 3.5z", class: "reactorl-head", transform }, group);
  }

  // -- activity ---------------------------------------------------------------------

  setActivity(marks) {
    const { model } = this;
    const byItem = new Map();
    const byBox = new Map();
    const add = (map, key, mark) => {
      const old = map.get(key);
      const count = (old?.count ?? 0) + 1;
      map.set(key, { ...(old && old.heat >= mark.heat ? old : mark), count });
    };
    for (const [path, mark] of marks) {
      const id = model.itemByPath.get(path);
      if (id === undefined) continue;
      const like = model.visible(id);
      if (like >= 0) add(byItem, like, mark);
      else add(byBox, model.visibleBox(model.items[id].box), mark);
    }
    for (const { item, box, element, label } of this.heated) {
      const mark = item === undefined ? byBox.get(box) : byItem.get(item);
      const heat = mark ? Math.round(Math.min(1, Math.max(0, mark.heat)) * 80) : 0;
      element.style.setProperty("--reactorl-heat", `${heat}%`);
      const more = mark && mark.count > 1 && mark.label ? ` (most of ${mark.count})` : "";
      label.textContent = mark ? mark.label + more : "";
    }
  }
}

// A path through points, with round corners.
function rounded(points) {
  let d = `M${points[0].x} ${points[0].y}`;
  for (let k = 1; k < points.length - 1; k++) {
    const [a, b, c] = [points[k - 1], points[k], points[k + 1]];
    const one = towards(b, a);
    const other = towards(b, c);
    d += `L${one.x} ${one.y}Q${b.x} ${b.y} ${other.x} ${other.y}`;
  }
  const last = points[points.length - 1];
  return `${d}L${last.x} ${last.y}`;
}

function towards(from, to) {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const part = Math.min(CORNER, length / 2) / length;
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
}
