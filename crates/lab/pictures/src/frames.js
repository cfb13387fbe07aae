"use strict";
(() => {
  const MARGIN = 10, CHARACTER = 7.3;
  // Places are rounded to this share of a per cent.
  const ROUNDING = 0.0002;
  const picture = document.documentElement;
  const part = (id) => document.getElementById(id);
  const frames = [...part("frames").children].map((box) => {
    const title = box.querySelector("title").textContent;
    const place = (name) => parseFloat(box.getAttribute(name));
    const label = title.replace(/ \([^(]*\)$/, "");
    return { box, title, label, text: box.querySelector("text"), x: place("x"), width: place("width"), y: place("y") };
  });
  const whole = frames[0];
  let zoomed = whole, term = "";

  const covers = (outer, inner) =>
    outer.x <= inner.x + ROUNDING && outer.x + outer.width >= inner.x + inner.width - ROUNDING;

  const show = () => {
    const pixels = picture.clientWidth - 2 * MARGIN;
    part("frames").setAttribute("width", pixels);
    const found = [];
    for (const frame of frames) {
      const { box, text, label } = frame;
      const ancestor = frame.y > zoomed.y && covers(frame, zoomed);
      const visible = ancestor || (frame.y <= zoomed.y && covers(zoomed, frame));
      const matches = term && visible && !ancestor && label.toLowerCase().includes(term.toLowerCase());
      if (matches) found.push(frame);
      box.classList.toggle("ancestor", ancestor);
      box.classList.toggle("hidden", !visible);
      box.classList.toggle("found", matches);
      const share = ancestor ? 1 : frame.width / zoomed.width;
      box.setAttribute("x", `${ancestor ? 0 : (frame.x - zoomed.x) / zoomed.width * 100}%`);
      box.setAttribute("width", `${share * 100}%`);
      const room = Math.floor((share * pixels - 6) / CHARACTER);
      text.textContent = label.length <= room ? label : room < 3 ? "" : `${label.slice(0, room - 1)}…`;
    }
    // A match above another match counts already.
    let end = -1, sum = 0;
    for (const frame of found.sort((a, b) => a.x - b.x || b.width - a.width)) {
      if (frame.x < end - ROUNDING) continue;
      sum += frame.width;
      end = frame.x + frame.width;
    }
    part("matched").textContent = term ? `“${term}” matches ${(sum / zoomed.width * 100).toFixed(1)} %` : "";
    part("unzoom").textContent = zoomed === whole ? "" : "Reset zoom";
    part("search").textContent = term ? "Reset search" : "Search";
  };

  const search = () => {
    term = term ? "" : prompt("Search for a part of a name:") ?? "";
    show();
  };

  const frameAt = (target) => frames.find(({ box }) => box.contains(target));

  addEventListener("click", ({ target }) => {
    const frame = frameAt(target);
    if (frame) zoomed = frame;
    if (target.id === "unzoom") zoomed = whole;
    if (target.id === "search") search(); else show();
  });
  addEventListener("mouseover", ({ target }) => {
    part("details").textContent = frameAt(target)?.title ?? "";
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "F3" && !((event.ctrlKey || event.metaKey) && event.key === "f")) return;
    event.preventDefault();
    search();
  });
  addEventListener("resize", show);

  // Live, the picture fits its window instead of scaling.
  picture.removeAttribute("viewBox");
  picture.setAttribute("width", "100%");
  show();
})();
