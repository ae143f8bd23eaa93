// Arrows between lines of the source, for the dependence that the mouse or the keyboard is on.
"use strict";
const source = document.querySelector(".source");
const line = number => source.querySelector(`li[data-line="${number}"]`);
const drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg");
drawing.setAttribute("aria-hidden", "true");
source.append(drawing);

function clear() {
  drawing.replaceChildren();
  source.querySelectorAll(".lit").forEach(it => it.classList.remove("lit"));
}

function show(button) {
  clear();
  const from = line(button.dataset.from), to = line(button.dataset.to || button.dataset.from);
  if (!from || !to) return;
  from.classList.add("lit");
  to.classList.add("lit");
  from.scrollIntoView({ block: "nearest" });
  if (!button.dataset.to) return;
  const middle = it => it.offsetTop + it.offsetHeight / 2;
  const edge = from.querySelector(".number").offsetWidth - 6;
  const same = from === to;
  const start = middle(from) - (same ? 6 : 0), end = middle(to) + (same ? 6 : 0);
  const reach = edge - 26;
  drawing.innerHTML = '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    + '<path d="M0 0 8 4 0 8z"/></marker></defs>'
    + `<path marker-end="url(#head)" d="M${edge} ${start} C${reach} ${start} ${reach} ${end} ${edge} ${end}"/>`;
}

for (const button of document.querySelectorAll("button[data-from]")) {
  button.addEventListener("mouseenter", () => show(button));
  button.addEventListener("focus", () => show(button));
  button.addEventListener("click", () => show(button));
  button.addEventListener("mouseleave", () => { if (document.activeElement !== button) clear(); });
  button.addEventListener("blur", clear);
}
document.addEventListener("keydown", event => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const here = document.activeElement;
  if (event.key === "Escape") { here.blur(); clear(); }
  if (!step || !here.matches("button[data-from]")) return;
  const all = [...here.closest("ul").querySelectorAll("button[data-from]")];
  const next = all[all.indexOf(here) + step];
  if (next) { next.focus(); event.preventDefault(); }
});

// A link to a dependence, as page.html#smooth-dependences-2, shows it.
const linked = document.getElementById(decodeURIComponent(location.hash.slice(1)));
if (linked && linked.matches("button")) {
  linked.focus();
  show(linked);
}
