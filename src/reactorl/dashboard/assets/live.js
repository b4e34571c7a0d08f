// SPDX-License-Identifier: Apache-2.0
// Shows the state of the run as it arrives. All data is inserted as plain text.

const find = (id) => document.getElementById(id);
const names = JSON.parse(find("reactions").textContent);
const charts = [];
const WORDS = {
  running: "running",
  ended: "ended",
  stopped: "stopped",
  failed: "failed",
  lost: "connection lost",
};
const MOST_SHOWN = 10;
let over = false;

function showPhase(phase) {
  find("phase").dataset.phase = phase;
  find("phase").textContent = WORDS[phase] ?? phase;
}

function showNow({ phase, note, done, tiles }) {
  showPhase(phase);
  find("note").hidden = note === "";
  find("note").textContent = note;
  find("bar").hidden = done === null;
  find("bar").firstElementChild.style.width = `${(done ?? 0) * 100}%`;
  const list = find("tiles");
  if (list.children.length !== tiles.length) {
    list.replaceChildren();
    for (const _ of tiles) {
      const tile = element("div", {}, list);
      element("dt", {}, tile);
      const value = element("dd", {}, tile);
      element("span", {}, value);
      element("small", {}, value);
    }
  }
  tiles.forEach(([name, value, more = ""], k) => {
    const [label, shown] = list.children[k].children;
    label.textContent = name;
    shown.firstElementChild.textContent = value;
    shown.lastElementChild.textContent = more;
  });
}

function percent(share) {
  if (share >= 0.0995) return `${Math.round(share * 100)} %`;
  return share >= 0.001 ? `${(share * 100).toFixed(1)} %` : "< 0.1 %";
}

function duration(seconds) {
  if (seconds >= 1) return `${seconds.toPrecision(3)} s`;
  if (seconds >= 1e-3) return `${(seconds * 1e3).toPrecision(3)} ms`;
  return `${(seconds * 1e6).toPrecision(3)} µs`;
}

function showFederates(federates) {
  find("federates").hidden = federates.length === 0;
  const rows = find("federates").querySelector("tbody");
  rows.replaceChildren();
  for (const [name, time, rate, cores] of federates) {
    const row = element("tr", {}, rows);
    element("td", { class: "name" }, row, name);
    element("td", { class: "n" }, row, time);
    element("td", { class: "n" }, row, short(rate));
    const cell = element("div", { class: "share" }, element("td", { class: "n" }, row));
    const track = element("div", {}, cell);
    element("div", {}, track).style.width = `${Math.min(1, cores) * 100}%`;
    element("span", {}, cell, cores.toFixed(2));
  }
}

function showWork({ reactions, workers, federates, cores }) {
  const marks = {};
  const most = Math.max(0.02, ...reactions.map(([, share]) => share));
  for (const [id, share] of reactions) {
    // Reactions that take almost no time are still shown as active.
    const heat = 0.1 + 0.9 * Math.sqrt(Math.min(1, share / most));
    marks[names[id]] = { heat, label: share >= 0.001 ? percent(share) : "" };
  }
  reactorlDiagram.setActivity(marks);
  showBusiest(reactions, most);
  showFederates(federates);
  const rows = find("workers");
  rows.replaceChildren();
  workers.forEach(([name, busy]) => {
    const row = element("div", { class: "worker" }, rows);
    element("span", {}, row, name);
    const track = element("div", {}, row);
    element("div", {}, track).style.width = `${Math.min(1, busy ?? 0) * 100}%`;
    element("span", {}, row, busy === null ? "-" : `${Math.round(busy * 100)} %`);
  });
  find("cores").textContent = `all threads: ${cores[0].toFixed(1)} of ${cores[1]} cores busy`;
}

function showBusiest(reactions, most) {
  find("idle").hidden = reactions.length > 0;
  const rows = find("busiest");
  rows.replaceChildren();
  for (const [id, share, rate, mean] of reactions.slice(0, MOST_SHOWN)) {
    const row = element("tr", {}, rows);
    element("td", { class: "name" }, row, names[id]);
    const cell = element("div", { class: "share" }, element("td", { class: "n" }, row));
    const track = element("div", {}, cell);
    element("div", {}, track).style.width = `${(share / most) * 100}%`;
    element("span", {}, cell, percent(share));
    element("td", { class: "n" }, row, short(rate));
    element("td", { class: "n" }, row, duration(mean));
  }
}

function showCharts(found) {
  while (charts.length < found.length) charts.push(new Chart(find("charts")));
  found.forEach((chart, k) => charts[k].show(chart));
}

function showLog(lines) {
  const box = find("log");
  const atEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - 8;
  box.replaceChildren();
  for (const [clock, text] of lines) {
    const row = element("p", {}, box);
    element("time", {}, row, clock);
    row.append(text);
  }
  if (atEnd) box.scrollTop = box.scrollHeight;
}

const parts = { now: showNow, work: showWork, charts: showCharts, log: showLog };
const source = new EventSource(location.pathname.replace(/\/?$/, "/events"));
source.addEventListener("message", (event) => {
  const news = JSON.parse(event.data);
  for (const [name, show] of Object.entries(parts)) if (name in news) show(news[name]);
});
source.addEventListener("over", () => {
  over = true;
  source.close();
  document.documentElement.dataset.over = "true";
});
source.addEventListener("error", () => {
  if (!over) showPhase("lost");
});
