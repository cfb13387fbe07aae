// A chapter shows the record's pictures as image links, so that they are seen wherever Markdown is. Here each
// becomes the live picture, which zooms on a click and searches with Ctrl-F. Without this script the still
// picture stays. And a fold with a result asks for a prediction first; without this script it is a plain fold.
// Nothing here needs a network, or a server: it works on a page opened from the file system.
"use strict";
(() => {
  const inChinese = document.documentElement.lang.startsWith("zh");
  const words = inChinese
    ? { alone: "单独打开", predicted: "你的预测：", prediction: "你的预测", factor: "倍数", few: "几个字即可", skip: "不预测，直接看", submit: "看结果" }
    : { alone: "Open it alone", predicted: "You predicted: ", prediction: "Your prediction", factor: "factor", few: "in a few words", skip: "Show it without one", submit: "Show the result" };

  const element = (name, attributes, ...children) => {
    const made = Object.assign(document.createElement(name), attributes);
    made.append(...children);
    return made;
  };

  /** Puts the live picture, with its caption, in the place of a still one that has been loaded. */
  const enliven = (image) => {
    // A flame graph fits its frames to any width itself, at the height of the still picture.
    const isGraph = /(^|\/)(slow|fixed|diff|[\w-]+\.(waits|allocations))[\w.-]*\.svg$/.test(image.getAttribute("src"));
    const object = element("object", { type: "image/svg+xml", data: image.src });
    object.setAttribute("aria-label", image.alt);
    if (isGraph && image.naturalHeight) object.style.height = `${image.naturalHeight}px`;

    const link = image.closest("a") ?? image;
    const place = link.parentElement.matches("p") && link.parentElement.children.length === 1 ? link.parentElement : link;
    // Markdown has no captions, so the caption is the paragraph below, in italics. The alt text says what is to be seen.
    const below = place.nextElementSibling;
    const said = below?.matches("p") && below.childNodes.length === 1 ? below.querySelector(":scope > em") : null;
    const alone = element("a", { href: image.src }, words.alone);
    const caption = element("figcaption", {}, ...(said ? said.childNodes : [image.alt]), " ", alone);
    const figure = element("figure", { className: isGraph ? "graph" : "drawing" }, element("div", {}, object), caption);
    if (said) below.remove();
    place.replaceWith(figure);
    object.append(image);
  };

  const whenLoaded = (image) => {
    if (image.complete) enliven(image);
    else image.addEventListener("load", () => enliven(image), { once: true });
  };

  /** A picture measures itself when it starts, so one that is folded away has to wait until it is seen. */
  const whenSeen = (image) => {
    const folded = image.closest("details:not([open])");
    if (folded) folded.addEventListener("toggle", () => whenSeen(image), { once: true });
    else whenLoaded(image);
  };

  // What the reader predicted stays in this browser. It may refuse to keep anything.
  const kept = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
  const keep = (key, said) => { try { localStorage.setItem(key, said); } catch { /* It is shown all the same. */ } };

  /** Puts a form in the place of a fold `details.predict`, which opens when the reader has predicted. */
  const askFirst = (fold, nth) => {
    const { name = "", letters = "", factor } = fold.dataset;
    const key = `prediction ${name} ${nth}`;
    const show = (said, open) => {
      fold.querySelector(".said")?.remove();
      if (said) fold.querySelector("summary").after(element("p", { className: "said" }, words.predicted + said));
      fold.hidden = false;
      fold.open = open;
    };
    const before = kept(key);
    // A link into the fold shows it, too.
    const isTarget = location.hash && fold.querySelector(`[id="${CSS.escape(location.hash.slice(1))}"]`);
    if (before || isTarget) return show(before, Boolean(isTarget));

    const form = element("form", { className: "prediction" }, element("strong", {}, words.prediction));
    for (const letter of letters) {
      const choice = element("input", { type: "radio", name: "letter", value: letter, required: true });
      form.append(element("label", {}, choice, ` ${letter}`));
    }
    if (factor || !letters) {
      const [type, size, hint] = factor ? ["number", 6, words.factor] : ["text", 24, words.few];
      const input = element("input", { type, size, name: "factor", required: true, placeholder: hint, min: "0", step: "any" });
      input.setAttribute("aria-label", hint);
      form.append(element("label", {}, input, factor ? " ×" : ""));
    }
    const skip = element("button", { type: "button", className: "skip" }, words.skip);
    form.append(element("button", { type: "submit" }, words.submit), skip);
    const done = (said) => {
      form.remove();
      show(said, true);
      fold.querySelector("summary").focus();
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const said = new FormData(form);
      const times = factor && said.get("factor") ? `${said.get("factor")}×` : said.get("factor");
      const words = [said.get("letter"), times].filter(Boolean).join(", ");
      keep(key, words);
      done(words);
    });
    skip.addEventListener("click", () => done(null));
    fold.before(form);
    fold.hidden = true;
  };

  // The page that holds the whole book is there to be printed.
  if (!location.pathname.endsWith("/print.html")) {
    document.querySelectorAll('main img[src*="/flame/"][src$=".svg"], main img[src$="littles-law.svg"]').forEach(whenSeen);
    document.querySelectorAll("main details.predict").forEach(askFirst);
  }

  // An entry of the sidebar without a page unfolds those below it, wherever its line is touched.
  document.addEventListener("click", (event) => {
    const label = event.target.closest(".sidebar .chapter-link-wrapper > span");
    label?.parentElement.querySelector(".chapter-fold-toggle")?.click();
  });

  // Paper cannot be unfolded.
  let unfolded = [];
  addEventListener("beforeprint", () => {
    unfolded = [...document.querySelectorAll("main details:not([open])")];
    unfolded.forEach((details) => { details.open = true; });
  });
  addEventListener("afterprint", () => unfolded.forEach((details) => { details.open = false; }));
})();
