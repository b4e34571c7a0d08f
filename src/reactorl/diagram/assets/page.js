// SPDX-License-Identifier: Apache-2.0
// Interaction: pan, zoom, open, search, tooltips.

const MOST_FOUND = 40;

function tag(name, className, text = null) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== null) element.textContent = text;
  return element;
}

class Page {
  constructor(root, scene, options) {
    this.root = root;
    this.model = new Model(scene, options);
    this.layout = new Layout(this.model);
    this.engine = new Engine(root.querySelector(".reactorl-elk").textContent.trim());
    this.marks = new Map();
    this.at = { x: 0, y: 0, scale: 1 };
    this.canvas = root.querySelector(".reactorl-canvas");
    this.world = make("g", {}, this.canvas);
    this.status = root.querySelector(".reactorl-status");
    this.tip = root.querySelector(".reactorl-tip");
    this.found = root.querySelector(".reactorl-found");
    this.field = root.querySelector(".reactorl-search");
    this.say();
    this.listen();
    this.ready = this.show().then(() => this.fit());
  }

  say() {
    const { problems } = this.model;
    const warning = this.root.querySelector(".reactorl-problems");
    warning.hidden = problems.length === 0;
    for (const problem of problems) warning.append(tag("pre", "", problem));
    this.root.querySelector("[data-do=banks]").hidden = !this.model.hasBanks;
    const { federates } = this.model;
    const key = this.root.querySelector(".reactorl-federates");
    key.hidden = federates.length === 0;
    for (const [number, name] of federates.entries()) {
      key.append(tag("li", this.model.colour(number).trim(), name));
    }
  }

  // Lay out and draw the visible part. The clicked element keeps its position.
  async show(anchor = null) {
    const before = anchor === null ? null : this.onScreen(anchor);
    const { engine, layout } = this;
    const waiting = setTimeout(() => {
      this.status.textContent = `Laying out ${this.model.countShown().toLocaleString("en")} things …`;
    }, 150);
    try {
      // ELK cannot wrap everything.
      const wrapped = engine.layout(layout.graph(true));
      const placed = await wrapped.catch(() => engine.layout(layout.graph(false)));
      if (placed === undefined) return;
      this.drawing = new Drawing(layout, placed);
      this.world.replaceChildren(this.drawing.root);
      this.drawing.setActivity(this.marks);
      this.status.textContent = "";
      const after = before === null ? null : this.onScreen(anchor);
      if (before !== null && after !== null) {
        this.at.x += before.x - after.x;
        this.at.y += before.y - after.y;
      }
      this.move();
      this.root.dataset.drawn = String(Number(this.root.dataset.drawn ?? 0) + 1);
    } catch (error) {
      this.status.textContent = `The picture cannot be laid out: ${error.message}`;
      throw error;
    } finally {
      clearTimeout(waiting);
    }
  }

  // -- moving -----------------------------------------------------------------------

  move() {
    const { x, y, scale } = this.at;
    this.world.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
  }

  onScreen(key) {
    const spot = this.drawing?.spots.get(key);
    if (!spot) return null;
    const { x, y, scale } = this.at;
    return { x: spot.x * scale + x, y: spot.y * scale + y };
  }

  fit() {
    if (!this.drawing) return;
    const { clientWidth: w, clientHeight: h } = this.canvas;
    const { width, height } = this.drawing;
    const scale = Math.min(w / width, h / height, 1.25);
    this.at = { scale, x: (w - width * scale) / 2, y: (h - height * scale) / 2 };
    this.move();
  }

  zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    const scale = Math.min(4, Math.max(0.02, this.at.scale * factor));
    const by = scale / this.at.scale;
    this.at = { scale, x: x - (x - this.at.x) * by, y: y - (y - this.at.y) * by };
    this.move();
  }

  centre(key) {
    const spot = this.drawing.spots.get(key);
    if (!spot) return;
    const { clientWidth: w, clientHeight: h } = this.canvas;
    const scale = Math.min(1.25, Math.max(this.at.scale, 0.9), w / spot.width, h / spot.height);
    this.at = {
      scale,
      x: w / 2 - (spot.x + spot.width / 2) * scale,
      y: h / 2 - (spot.y + spot.height / 2) * scale,
    };
    this.move();
    for (const old of this.root.querySelectorAll(".reactorl-here")) {
      old.classList.remove("reactorl-here");
    }
    spot.element.classList.add("reactorl-here");
  }

  // -- opening ----------------------------------------------------------------------

  toggle(box) {
    this.model.opened[box] = !this.model.opened[box];
    return this.show(`b${box}`);
  }

  fold(bank) {
    this.model.unfolded[bank] = !this.model.unfolded[bank];
    return this.show(`b${this.model.kids[bank][0]}`);
  }

  async reveal({ box, item }) {
    this.model.reveal(box);
    if (item !== undefined && !this.model.isPort(item)) this.model.opened[box] = true;
    await this.show();
    const bank = this.model.boxes[box].kind === "bank";
    const seen = bank ? this.model.kids[box][0] : box;
    this.centre(item === undefined ? `b${seen}` : `i${item}`);
  }

  async command(name) {
    const { model } = this;
    if (name === "fit") this.fit();
    else if (name === "in") this.zoom(1.3);
    else if (name === "out") this.zoom(1 / 1.3);
    else if (name === "theme") this.switchTheme();
    else {
      if (name === "open") model.setAllOpen(true);
      else if (name === "close") model.setAllOpen(false);
      else model.setAllUnfolded(!model.boxes.some((box, id) => box.kind === "bank" && model.unfolded[id]));
      await this.show();
      this.fit();
    }
  }

  switchTheme() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = this.root.dataset.theme ?? (dark ? "dark" : "light");
    this.root.dataset.theme = now === "dark" ? "light" : "dark";
  }

  // -- events -----------------------------------------------------------------------

  listen() {
    this.listenToCanvas();
    this.root.addEventListener("click", (event) => {
      const button = event.target.closest("[data-do]");
      if (button) this.command(button.dataset.do);
    });
    this.field.addEventListener("input", () => this.list());
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.found.querySelector("button")?.click();
      if (event.key !== "Escape") return;
      this.field.value = "";
      this.list();
    });
    this.field.addEventListener("focus", () => this.list());
    document.addEventListener("pointerdown", (event) => {
      if (!event.target.closest?.(".reactorl-finder")) this.found.hidden = true;
    });
    document.addEventListener("keydown", (event) => {
      const typing = event.target.closest?.("input, textarea, [contenteditable]");
      if (event.key === "/" && !typing) {
        event.preventDefault();
        this.field.focus();
      }
    });
  }

  listenToCanvas() {
    const { canvas } = this;
    const press = (event) => {
      const [toggle, fold] = [event.target.closest("[data-toggle]"), event.target.closest("[data-fold]")];
      if (toggle) this.toggle(Number(toggle.dataset.toggle));
      else if (fold) this.fold(Number(fold.dataset.fold));
      return Boolean(toggle || fold);
    };
    canvas.addEventListener("click", press);
    canvas.addEventListener("keydown", (event) => {
      if ((event.key === "Enter" || event.key === " ") && press(event)) event.preventDefault();
    });
    canvas.addEventListener("dblclick", (event) => {
      const box = Number(event.target.closest("[data-box]")?.dataset.box ?? 0);
      if (box !== 0 && this.model.hasInside(box) && !event.target.closest("[data-toggle], [data-fold]")) {
        this.toggle(box);
      }
    });
    canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const { left, top } = canvas.getBoundingClientRect();
        const step = event.deltaMode === 1 ? event.deltaY * 16 : event.deltaY;
        this.zoom(Math.exp(-step / 400), event.clientX - left, event.clientY - top);
      },
      { passive: false },
    );
    this.listenToPointers();
    canvas.addEventListener("pointerleave", () => this.hover(null));
  }

  // One pointer pans, two pointers also zoom.
  listenToPointers() {
    const { canvas } = this;
    const down = new Map(); // pointer -> where it was last
    const hold = () => {
      const points = [...down.values()];
      const mean = (axis) => points.reduce((sum, point) => sum + point[axis], 0) / points.length;
      const [x, y] = [mean("x"), mean("y")];
      const apart = points.length < 2 ? 1 : Math.hypot(points[0].x - points[1].x, points[0].y - points[1].y);
      return { x, y, apart: apart || 1 };
    };
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button === 0) down.set(event.pointerId, { x: event.clientX, y: event.clientY });
    });
    canvas.addEventListener("pointermove", (event) => {
      const last = down.get(event.pointerId);
      if (last === undefined || !(event.buttons & 1)) {
        down.delete(event.pointerId);
        this.hover(event);
        return;
      }
      if (!canvas.hasPointerCapture(event.pointerId)) {
        const moved = Math.hypot(event.clientX - last.x, event.clientY - last.y);
        if (moved < 4) return; // a click with an unsteady hand
        canvas.setPointerCapture(event.pointerId);
      }
      const before = hold();
      down.set(event.pointerId, { x: event.clientX, y: event.clientY });
      const after = hold();
      this.at.x += after.x - before.x;
      this.at.y += after.y - before.y;
      this.tip.hidden = true;
      const { left, top } = canvas.getBoundingClientRect();
      this.zoom(after.apart / before.apart, after.x - left, after.y - top);
    });
    for (const end of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(end, (event) => down.delete(event.pointerId));
    }
  }

  // -- tooltips and search ----------------------------------------------------------

  hover(event) {
    const target = event?.target.closest?.("[data-item], [data-edge], [data-box]") ?? null;
    if (target !== this.pointed) {
      this.pointed = target;
      for (const old of this.root.querySelectorAll(".reactorl-hot")) {
        old.classList.remove("reactorl-hot");
      }
      this.tip.hidden = target === null;
      if (target === null) return;
      const { item, edge, box } = target.dataset;
      if (item !== undefined) {
        for (const line of this.drawing.lines.get(Number(item)) ?? []) line.classList.add("reactorl-hot");
      } else if (edge !== undefined) target.classList.add("reactorl-hot");
      const rows = item !== undefined ? this.aboutItem(item) : edge !== undefined ? this.aboutEdge(edge) : this.aboutBox(box);
      this.fillTip(rows);
    }
    if (target !== null) this.placeTip(event);
  }

  aboutBox(id) {
    const box = this.model.boxes[id];
    const bank = this.model.bankOf(id);
    const width = bank === undefined ? undefined : this.model.boxes[bank].width;
    return [
      [box.path, null],
      ["", box.doc],
      ["class", box.cls],
      ["bank", width === undefined ? "" : `one of ${width}`],
      ["federate", this.model.federates[box.federate] ?? ""],
      ["copy in", box.copies],
      ...(box.params ?? []),
      ["contained at", box.where],
      ["class at", box.cls_where],
    ];
  }

  aboutItem(id) {
    const item = this.model.items[id];
    const kind = item.number ? `${item.kind} ${item.number}` : item.kind;
    const loop = item.loop ? "part of a causality loop" : "";
    return [[item.path, null], ["", kind], ["", loop], ...(item.facts ?? []), ["at", item.where]];
  }

  aboutEdge(id) {
    const edge = this.model.edges[id];
    const name = (item) => this.model.items[item].path;
    return [
      [`${name(edge.source)} → ${name(edge.target)}`, null],
      ["", `${edge.kind}${edge.shown ? `, ${edge.shown}` : ""}`],
      ["", edge.loop ? "part of a causality loop" : ""],
      ...(edge.facts ?? []),
      ["at", edge.where],
    ];
  }

  fillTip(rows) {
    this.tip.replaceChildren();
    for (const [name, text] of rows) {
      if (text === null) this.tip.append(tag("strong", "", name));
      else if (text && name === "") this.tip.append(tag("div", "", text));
      else if (text) {
        const row = tag("div", "reactorl-fact");
        row.append(tag("span", "", name), tag("code", "", text));
        this.tip.append(row);
      }
    }
  }

  placeTip(event) {
    const area = this.root.getBoundingClientRect();
    const { offsetWidth: w, offsetHeight: h } = this.tip;
    let [x, y] = [event.clientX - area.left + 14, event.clientY - area.top + 16];
    if (x + w > area.width - 6) x = Math.max(6, area.width - w - 6);
    if (y + h > area.height - 6) y = Math.max(6, event.clientY - area.top - h - 10);
    this.tip.style.left = `${x}px`;
    this.tip.style.top = `${y}px`;
  }

  list() {
    const text = this.field.value.trim();
    this.found.replaceChildren();
    this.found.hidden = text === "";
    if (text === "") return;
    const all = this.model.search(text);
    for (const one of all.slice(0, MOST_FOUND)) {
      const row = tag("button", "");
      row.type = "button";
      row.append(tag("span", "", one.name), tag("em", "", one.kind));
      row.addEventListener("click", () => {
        this.found.hidden = true;
        this.reveal(one);
      });
      this.found.append(row);
    }
    const more = all.length - MOST_FOUND;
    if (more > 0) this.found.append(tag("p", "", `and ${more.toLocaleString("en")} more`));
    if (all.length === 0) this.found.append(tag("p", "", "nothing has this name"));
  }

  // -- for other scripts ------------------------------------------------------------

  setActivity(marks) {
    this.marks = new Map(
      Object.entries(marks).map(([path, mark]) => [
        path,
        typeof mark === "number" ? { heat: mark, label: "" } : { heat: mark.heat, label: String(mark.label ?? "") },
      ]),
    );
    this.drawing?.setActivity(this.marks);
  }
}

const root = document.querySelector(".reactorl-diagram");
const read = (name) => JSON.parse(root.querySelector(name).textContent);
const page = new Page(root, read(".reactorl-scene"), read(".reactorl-options"));
page.setActivity(read(".reactorl-overlay"));
window.reactorlDiagram = {
  ready: page.ready,
  setActivity: (marks) => page.setActivity(marks),
  fit: () => page.fit(),
};
