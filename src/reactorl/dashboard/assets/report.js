// SPDX-License-Identifier: Apache-2.0
// In print the diagram is light and complete.

const diagram = document.querySelector(".reactorl-diagram");
const canvas = diagram.querySelector(".reactorl-canvas");
const paper = matchMedia("print");

function prepare() {
  if (paper.matches) {
    const { x, y, width, height } = canvas.getBBox();
    canvas.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
    diagram.dataset.theme = "light";
  } else {
    canvas.removeAttribute("viewBox");
    delete diagram.dataset.theme;
  }
}

paper.addEventListener("change", prepare);
