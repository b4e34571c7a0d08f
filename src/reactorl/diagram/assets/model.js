// SPDX-License-Identifier: Apache-2.0
// The scene, and which part of it is visible.
//
// A closed reactor hides its content. A folded bank is drawn as its first member, which
// then stands for all of them. Everything here works on ids: positions in the scene's
// lists.

const PORTS = new Set(["input", "output"]);
const READABLE = 160; // how many things a picture shows at first, if it can be helped

class Model {
  constructor(scene, options) {
    this.boxes = scene.boxes;
    this.items = scene.items;
    this.edges = scene.edges;
    this.problems = scene.problems;
    this.federates = scene.federates ?? []; // names
    this.kids = this.boxes.map(() => []);
    this.kidByName = this.boxes.map(() => new Map());
    this.itemsOf = this.boxes.map(() => []);
    this.itemByKey = this.boxes.map(() => new Map());
    this.itemByPath = new Map();
    this.boxes.forEach((box, id) => {
      if (box.parent < 0) return;
      this.kids[box.parent].push(id);
      this.kidByName[box.parent].set(box.name, id);
    });
    this.items.forEach((item, id) => {
      this.itemsOf[item.box].push(id);
      this.itemByKey[item.box].set(this.key(id), id);
      this.itemByPath.set(item.path, id);
    });
    this.opened = this.boxes.map(() => false); // reactors that show what is in them
    this.unfolded = this.boxes.map(() => false); // banks that show all members
    this.begin(options);
  }

  key(id) {
    const item = this.items[id];
    const mode = item.mode === undefined ? "" : this.items[item.mode].name;
    return `${item.kind} ${mode} ${item.name}`;
  }

  isPort(id) {
    return PORTS.has(this.items[id].kind);
  }

  // Whether a reactor has content that can be shown.
  hasInside(box) {
    return this.kids[box].length > 0 || this.itemsOf[box].some((id) => !this.isPort(id));
  }

  begin(options) {
    if (options.expandBanks) this.unfolded.fill(true);
    if (options.depth !== null) {
      this.openTo(options.depth);
      return;
    }
    // Level by level, as long as the picture stays readable.
    for (let depth = 1; ; depth++) {
      const before = this.opened.slice();
      this.openTo(depth);
      const same = before.every((was, id) => was === this.opened[id]);
      if (same) return;
      if (depth > 1 && this.countShown() > READABLE) {
        this.opened = before;
        return;
      }
    }
  }

  openTo(depth) {
    const deep = [];
    this.boxes.forEach((box, id) => {
      deep[id] = box.parent < 0 ? 0 : deep[box.parent] + (box.kind === "bank" ? 0 : 1);
      this.opened[id] = box.kind === "reactor" && deep[id] < depth && this.hasInside(id);
    });
  }

  setAllOpen(open) {
    this.boxes.forEach((box, id) => {
      this.opened[id] = box.kind === "reactor" && this.hasInside(id) && (open || id === 0);
    });
  }

  setAllUnfolded(unfolded) {
    this.unfolded.fill(unfolded);
  }

  get hasBanks() {
    return this.boxes.some((box) => box.kind === "bank" && box.width > 1);
  }

  countShown() {
    this.refresh();
    let count = 0;
    for (let id = 0; id < this.boxes.length; id++) {
      if (!this.isShown(id) || this.boxes[id].kind === "bank") continue;
      count += 1 + (this.opened[id] ? this.itemsOf[id].length : 0);
    }
    return count;
  }

  // To be called after something was opened or closed.
  refresh() {
    this.standIns = new Map();
    this.shown = new Map();
  }

  // The box that stands for a box: itself, or its like in the first member of a bank.
  standIn(id) {
    let found = this.standIns.get(id);
    if (found === undefined) {
      found = this.findStandIn(id);
      this.standIns.set(id, found);
    }
    return found;
  }

  // The member that is drawn for a member of a folded bank.
  like(id) {
    return this.boxes[id].like ?? this.kids[this.boxes[id].parent][0];
  }

  findStandIn(id) {
    const box = this.boxes[id];
    if (box.parent < 0) return id;
    const parent = this.standIn(box.parent);
    if (parent < 0) return -1;
    if (this.boxes[parent].kind === "bank" && !this.unfolded[parent]) {
      return this.like(id);
    }
    if (parent === box.parent) return id;
    return this.kidByName[parent].get(box.name) ?? -1;
  }

  // Whether a box is in the picture.
  isShown(id) {
    let found = this.shown.get(id);
    if (found === undefined) {
      const parent = this.boxes[id].parent;
      found =
        parent < 0 ||
        (this.isShown(parent) &&
          this.standIn(id) === id &&
          (this.boxes[parent].kind === "bank" || this.opened[parent]));
      this.shown.set(id, found);
    }
    return found;
  }

  // The item in the picture that stands for an item; -1: it is not visible.
  visible(id) {
    const home = this.items[id].box;
    const box = this.standIn(home);
    if (box < 0 || !this.isShown(box)) return -1;
    const like = box === home ? id : (this.itemByKey[box].get(this.key(id)) ?? -1);
    return like < 0 || (!this.isPort(like) && !this.opened[box]) ? -1 : like;
  }

  // The innermost box in the picture that a box is in, or stands for.
  visibleBox(id) {
    let box = this.standIn(id);
    while (box >= 0 && !this.isShown(box)) box = this.boxes[box].parent;
    return box >= 0 && this.boxes[box].kind === "bank" ? this.kids[box][0] : box;
  }

  // Reactors directly inside one, with the members of banks.
  reactorsIn(id) {
    return this.kids[id].flatMap((kid) => {
      if (this.boxes[kid].kind === "reactor") return [kid];
      const members = this.kids[kid];
      return this.unfolded[kid] ? members : members.filter((one) => this.like(one) === one);
    });
  }

  // For how many members a member of a folded bank is drawn.
  standsFor(id) {
    return this.kids[this.bankOf(id)].filter((one) => this.like(one) === id).length;
  }

  // The federate of a reactor that runs elsewhere than the reactor around it.
  regionOf(id) {
    const outer = this.boxes[id].parent < 0 ? undefined : this.boxes[id].parent;
    if (outer === undefined || this.modeOf(id) !== undefined) return undefined;
    const around = this.boxes[this.bankOf(id) === undefined ? outer : this.boxes[outer].parent];
    return this.boxes[id].federate === around.federate ? undefined : this.boxes[id].federate;
  }

  colour(federate) {
    return federate === undefined ? "" : ` reactorl-federate-${federate % 8}`;
  }

  // The bank that a reactor is a member of; undefined: none.
  bankOf(id) {
    const parent = this.boxes[id].parent;
    return parent >= 0 && this.boxes[parent].kind === "bank" ? parent : undefined;
  }

  modeOf(id) {
    const bank = this.bankOf(id);
    return this.boxes[bank === undefined ? id : bank].mode;
  }

  // The visible edges; parallel ones are merged.
  visibleEdges() {
    const found = new Map();
    this.edges.forEach((edge, id) => {
      const source = this.visible(edge.source);
      const target = source < 0 ? -1 : this.visible(edge.target);
      if (target < 0) return;
      const key = `${edge.kind} ${source} ${target} ${edge.shown ?? ""}`;
      const other = found.get(key);
      if (other === undefined) {
        const [loop, crosses] = [edge.loop === true, edge.crosses === true];
        found.set(key, { id, edge, source, target, loop, crosses, count: 1 });
      } else {
        other.count += 1;
        other.loop ||= edge.loop === true;
        other.crosses ||= edge.crosses === true;
      }
    });
    return [...found.values()];
  }

  // Open and unfold everything that hides a box.
  reveal(id) {
    for (let at = this.boxes[id].parent, from = id; at >= 0; at = this.boxes[at].parent) {
      if (this.boxes[at].kind === "reactor") this.opened[at] = true;
      else if (this.like(from) !== from) this.unfolded[at] = true;
      from = at;
    }
  }

  search(text) {
    const wanted = text.toLowerCase();
    const found = [];
    const add = (rank, name, kind, ids) => found.push({ rank, name, kind, ...ids });
    const rank = (name, path) => {
      const at = name.toLowerCase().indexOf(wanted);
      if (at === 0) return name.length === wanted.length ? 0 : 1;
      if (at > 0) return 2;
      return path.toLowerCase().includes(wanted) ? 3 : -1;
    };
    this.boxes.forEach((box, id) => {
      const best = rank(box.name, box.path);
      const byClass = rank(box.cls, box.cls);
      const which = best < 0 ? byClass : byClass < 0 ? best : Math.min(best, byClass);
      if (which >= 0) add(which, box.path, box.cls, { box: id });
    });
    this.items.forEach((item, id) => {
      const best = rank(item.name, item.path);
      if (best >= 0) add(best, item.path, item.kind, { item: id, box: item.box });
    });
    return found.sort((a, b) => a.rank - b.rank || a.name.length - b.name.length);
  }
}
