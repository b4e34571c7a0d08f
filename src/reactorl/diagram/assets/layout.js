// SPDX-License-Identifier: Apache-2.0
// Layout: the visible part as a graph for ELK, which runs in a web worker.

const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
const SMALL = FONT.replace("12px", "10.5px");
const HEADER = 26;
const OPTIONS = {
  "elk.direction": "RIGHT",
  "elk.edgeRouting": "ORTHOGONAL",
  "elk.spacing.nodeNode": "20",
  "elk.spacing.edgeNode": "12",
  "elk.spacing.edgeEdge": "9",
  "elk.spacing.edgeLabel": "3",
  "elk.spacing.portPort": "20",
  "elk.layered.spacing.nodeNodeBetweenLayers": "34",
  "elk.layered.spacing.edgeNodeBetweenLayers": "14",
  "elk.layered.spacing.edgeEdgeBetweenLayers": "9",
  "elk.layered.considerModelOrder.strategy": "NODES_AND_EDGES",
  "elk.layered.nodePlacement.bk.fixedAlignment": "BALANCED",
  "elk.layered.cycleBreaking.strategy": "GREEDY",
  "elk.separateConnectedComponents": "false",
};
// A row of so many reactors in one is too long to be read.
const LONG_ROW = 12;
const WRAPPED = { "elk.layered.wrapping.strategy": "MULTI_EDGE", "elk.aspectRatio": "1.8" };

class Layout {
  constructor(model) {
    this.model = model;
    this.pen = document.createElement("canvas").getContext("2d");
    this.widths = new Map();
  }

  width(text, font = FONT) {
    const key = font + text;
    let found = this.widths.get(key);
    if (found === undefined) {
      this.pen.font = font;
      found = Math.ceil(this.pen.measureText(text).width);
      this.widths.set(key, found);
    }
    return found;
  }

  // The visible part as a graph for ELK. With `wrap`, long rows are wrapped like lines
  // of text.
  graph(wrap) {
    this.wrap = wrap;
    this.model.refresh();
    this.holders = new Map(); // box -> node in which edges are listed
    this.frames = new Map(); // "m3", "f0 1": node of a mode, or of a region of a federate
    this.through = [];
    this.seen = new Map(); // id of an edge in the graph -> what it is
    const root = this.boxNode(0);
    for (const seen of this.model.visibleEdges()) this.addEdge(seen);
    const options = {
      ...OPTIONS,
      "elk.algorithm": "layered",
      "elk.padding": "[top=12,left=12,bottom=12,right=12]",
      "elk.json.edgeCoords": "ROOT",
      "elk.json.shapeCoords": "ROOT",
    };
    return { id: "picture", layoutOptions: options, children: [root], edges: [] };
  }

  boxTitle(id) {
    const { model } = this;
    const box = model.boxes[id];
    const bank = model.bankOf(id);
    const folded = bank !== undefined && !model.unfolded[bank];
    const name = folded ? model.boxes[bank].name : box.name;
    const many = folded ? model.standsFor(id) : 1;
    const count = folded && (many > 1 || model.boxes[bank].width === 1) ? ` ×${many}` : "";
    const same = name.toLowerCase() === box.cls.toLowerCase();
    const small = [same ? "" : box.cls, box.copies ? `copy in ${box.copies}` : ""];
    return { name, count, cls: small.filter((text) => text).join(", ") };
  }

  boxNode(id) {
    const { model } = this;
    const open = model.opened[id];
    const title = this.boxTitle(id);
    const buttons = (model.hasInside(id) && id !== 0 ? 20 : 0) + (this.hasFold(id) ? 20 : 0);
    const words = this.width(title.name + title.count) + this.width(title.cls, SMALL);
    const across = words + (title.cls ? 8 : 0) + 24 + buttons;
    const ports = model.itemsOf[id].filter((item) => model.isPort(item));
    const sides = { input: [0, 0], output: [0, 0] }; // count, widest label
    for (const port of ports) {
      const side = sides[model.items[port].kind];
      side[0] += 1;
      side[1] = Math.max(side[1], this.width(this.portText(port), SMALL));
    }
    const node = {
      id: `b${id}`,
      box: id,
      ports: ports.map((port) => this.portNode(port)),
      children: [],
      edges: [],
      layoutOptions: { "elk.portConstraints": "FIXED_SIDE" },
    };
    if (!open) {
      // ELK knows the part below the header, where the ports are; the header is a label.
      const labels = sides.input[1] + sides.output[1] + 36;
      const most = Math.max(sides.input[0], sides.output[0]);
      node.width = Math.max(across, labels, 60);
      node.height = most ? 2 + most * 20 : 4;
      node.header = HEADER;
      node.labels = [{ text: "header", width: node.width, height: HEADER }];
      node.layoutOptions["elk.nodeLabels.placement"] = "OUTSIDE V_TOP H_LEFT";
      node.layoutOptions["elk.spacing.labelNode"] = "0";
      delete node.children;
      return node;
    }
    this.holders.set(id, node);
    // The names of ports are above the edges that lead inside.
    const left = 18 + sides.input[1];
    const right = 18 + sides.output[1];
    Object.assign(node.layoutOptions, OPTIONS, {
      "elk.algorithm": "layered",
      "elk.padding": `[top=${HEADER + 14},left=${left},bottom=16,right=${right}]`,
      "elk.nodeSize.constraints": "[MINIMUM_SIZE, PORTS]",
      "elk.nodeSize.minimum": `(${across},${HEADER + 20})`,
    });
    this.fill(id, node);
    if (this.wrap && node.children.length > LONG_ROW) Object.assign(node.layoutOptions, WRAPPED);
    return node;
  }

  // Put the content of a reactor into its node, or into those of its modes and of the
  // regions of other federates.
  fill(id, node) {
    const { model } = this;
    const add = (key, fields, name) => {
      const frame = { ...this.frameNode(name), ...fields };
      if (fields.item !== undefined) {
        // Closed reactors inside would get it, too.
        frame.layoutOptions["elk.spacing.portsSurrounding"] = "[top=14,left=0,bottom=14,right=0]";
      }
      node.children.push(frame);
      this.frames.set(key, frame);
    };
    for (const item of model.itemsOf[id]) {
      if (model.items[item].kind !== "mode") continue;
      add(`m${item}`, { id: `i${item}`, item }, model.items[item].name);
    }
    const place = (key) => (this.frames.get(key) ?? node).children;
    for (const item of model.itemsOf[id]) {
      if (model.isPort(item) || model.items[item].kind === "mode") continue;
      place(this.frameOfItem(item)).push(this.itemNode(item));
    }
    for (const kid of model.reactorsIn(id)) {
      const key = this.frameOfBox(kid);
      const federate = model.regionOf(kid);
      if (federate !== undefined && !this.frames.has(key)) {
        const name = `federate ${model.federates[federate]}`;
        add(key, { id: `f${id}-${federate}`, federate }, name);
      }
      place(key).push(this.boxNode(kid));
    }
  }

  frameNode(name) {
    return {
      ports: [],
      children: [],
      edges: [],
      layoutOptions: {
        ...OPTIONS,
        "elk.algorithm": "layered",
        "elk.portConstraints": "FIXED_SIDE",
        "elk.padding": `[top=${HEADER + 6},left=14,bottom=14,right=14]`,
        "elk.nodeSize.constraints": "[MINIMUM_SIZE]",
        "elk.nodeSize.minimum": `(${this.width(name) + 60},${HEADER + 20})`,
      },
    };
  }

  // The frame within a reactor that an item, or a reactor, is in; undefined: none.
  frameOfItem(id) {
    const { mode } = this.model.items[id];
    return mode === undefined ? undefined : `m${mode}`;
  }

  frameOfBox(id) {
    const { model } = this;
    const mode = model.modeOf(id);
    if (mode !== undefined) return `m${mode}`;
    const federate = model.regionOf(id);
    if (federate === undefined) return undefined;
    const bank = model.bankOf(id);
    return `f${model.boxes[bank === undefined ? id : bank].parent} ${federate}`;
  }

  hasFold(id) {
    const bank = this.model.bankOf(id);
    return bank !== undefined && this.model.boxes[bank].width > 1;
  }

  portText(id) {
    return this.model.items[id].name + (this.model.items[id].shown ?? "");
  }

  portNode(id) {
    const side = this.model.items[id].kind === "input" ? "WEST" : "EAST";
    const options = { "elk.port.side": side, "elk.port.borderOffset": "-5" };
    return { id: `i${id}`, item: id, width: 10, height: 10, layoutOptions: options };
  }

  itemNode(id) {
    const item = this.model.items[id];
    const isReaction = item.kind === "reaction";
    const shown = item.shown ?? "";
    let across = this.width(item.name) + (isReaction ? 44 : 34);
    let high = isReaction ? 28 : 24;
    if (isReaction && shown) {
      across = Math.max(across, this.width(shown, SMALL) + 44);
      high += 14;
    } else if (shown) {
      across += this.width(shown, SMALL) + 5;
    }
    const port = (name, side, x) => ({
      id: `i${id}${name}`,
      width: 0,
      height: 0,
      x,
      y: high / 2,
      layoutOptions: { "elk.port.side": side },
    });
    return {
      id: `i${id}`,
      item: id,
      width: across,
      height: high,
      ports: [port("in", "WEST", 0), port("out", "EAST", across)],
      layoutOptions: { "elk.portConstraints": "FIXED_POS" },
    };
  }

  // An arrow that leads into a frame or out of it has a part on each side of it: ELK lays
  // out the inside of each box, mode and region by itself.
  addEdge(seen) {
    const { model } = this;
    const end = (id, side) => {
      const plain = model.isPort(id) || model.items[id].kind === "mode";
      return plain ? `i${id}` : `i${id}${side}`;
    };
    const home = this.holder(seen, model.items[seen.source].box, model.items[seen.target].box);
    const holder = this.holders.get(home);
    if (holder === undefined) {
      // From an input directly to an output of a reactor without other content.
      if (!model.hasInside(home)) this.through.push(seen);
      return;
    }
    const inside = (id) => {
      const item = model.items[id];
      return item.box === home ? this.frameOfItem(id) : this.frameOfBox(item.box);
    };
    const [from, to] = [inside(seen.source), inside(seen.target)];
    let source = end(seen.source, "out");
    const target = end(seen.target, "in");
    if (from === to) {
      this.addPart(this.frames.get(from) ?? holder, seen, source, target, "");
      return;
    }
    if (from !== undefined) {
      const gate = this.gate(from, "EAST", `${source}>`);
      this.addPart(this.frames.get(from), seen, source, gate, "a");
      source = gate;
    }
    const gate = to === undefined ? target : this.gate(to, "WEST", `>${target}`);
    this.addPart(holder, seen, source, gate, "");
    if (to !== undefined) this.addPart(this.frames.get(to), seen, gate, target, "b");
  }

  // In a cycle, the feedback edges are delayed ones and those to an earlier mode.
  forwardness(seen) {
    if (seen.edge.kind === "transition") {
      return seen.target > this.model.items[seen.source].mode ? "5" : "0";
    }
    return seen.edge.late ? "0" : "10";
  }

  // Where edges from or to one item cross a frame.
  gate(frame, side, name) {
    const node = this.frames.get(frame);
    const id = `${node.id}${name}`;
    if (!node.ports.some((port) => port.id === id)) {
      node.ports.push({ id, width: 0, height: 0, layoutOptions: { "elk.port.side": side } });
    }
    return id;
  }

  addPart(node, seen, source, target, part) {
    const id = `e${seen.id}${part}`;
    this.seen.set(id, { ...seen, ends: target === `i${seen.target}` || target === `i${seen.target}in` });
    const edge = { id, sources: [source], targets: [target] };
    edge.layoutOptions = { "elk.layered.priority.direction": this.forwardness(seen) };
    const label = seen.edge.shown;
    if (label && part === "") {
      edge.labels = [{ text: label, width: this.width(label, SMALL) + 6, height: 14 }];
    }
    node.edges.push(edge);
  }

  // The reactor in which an arrow is drawn.
  holder(seen, one, other) {
    const { model } = this;
    const outer = (id) => {
      const bank = model.bankOf(id);
      return model.boxes[bank === undefined ? id : bank].parent;
    };
    if (seen.edge.kind !== "connection") {
      // A reaction is in the reactor that is drawn around its arrows.
      return model.isPort(seen.source) ? other : one;
    }
    if (one === other) {
      const inward = model.items[seen.source].kind === "input";
      return inward ? one : outer(one);
    }
    if (outer(other) === one) return one;
    if (outer(one) === other) return other;
    return outer(one);
  }
}

// ELK in a worker, which is started with the first layout and killed by a newer one.
class Engine {
  constructor(packed) {
    this.packed = packed;
    this.count = 0;
  }

  async address() {
    const bytes = Uint8Array.from(atob(this.packed), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const text = await new Response(stream).text();
    return URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  }

  // Returns the graph with positions; undefined if a newer one was asked for meanwhile.
  async layout(graph) {
    const mine = ++this.count;
    if (this.busy) this.stop();
    this.url ??= this.address();
    const url = await this.url;
    if (mine !== this.count) return undefined;
    if (this.worker === undefined) {
      this.worker = new Worker(url);
      this.worker.postMessage({ id: 0, cmd: "register", algorithms: ["layered"] });
    }
    this.busy = true;
    return new Promise((resolve, reject) => {
      this.abandon = () => resolve(undefined);
      this.worker.onerror = (event) => {
        this.busy = false;
        reject(new Error(event.message || "the layout could not be started"));
      };
      this.worker.onmessage = ({ data }) => {
        if (data.id !== mine) return;
        this.busy = false;
        if (data.error) reject(new Error(data.error.message || String(data.error)));
        else resolve(data.data);
      };
      this.worker.postMessage({ id: mine, cmd: "layout", graph, layoutOptions: {}, options: {} });
    });
  }

  stop() {
    this.worker?.terminate();
    this.worker = undefined;
    this.busy = false;
    this.abandon?.();
  }
}
