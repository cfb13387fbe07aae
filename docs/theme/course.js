// A chapter shows the record's pictures as image links, so that they are seen wherever Markdown is. Here each
// becomes the live picture, which zooms on a click and searches with Ctrl-F. Without this script the still
// picture stays. Nothing here needs a network, or a server: it works on a page opened from the file system.
"use strict";
(() => {
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

    const alone = element("a", { href: image.src }, "Open it alone");
    const caption = element("figcaption", {}, image.alt, " ", alone);
    const figure = element("figure", { className: isGraph ? "graph" : "drawing" }, element("div", {}, object), caption);

    const link = image.closest("a") ?? image;
    const place = link.parentElement.matches("p") && link.parentElement.children.length === 1 ? link.parentElement : link;
    // Where Markdown is shown without this script, the caption stands below as a paragraph.
    const below = place.nextElementSibling;
    if (below?.matches("p") && below.textContent.trim() === image.alt) below.remove();
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

  // The page that holds the whole book is there to be printed.
  if (!location.pathname.endsWith("/print.html")) {
    document.querySelectorAll('main img[src*="/flame/"][src$=".svg"]').forEach(whenSeen);
  }

  // Paper cannot be unfolded.
  let unfolded = [];
  addEventListener("beforeprint", () => {
    unfolded = [...document.querySelectorAll("main details:not([open])")];
    unfolded.forEach((details) => { details.open = true; });
  });
  addEventListener("afterprint", () => unfolded.forEach((details) => { details.open = false; }));
})();
