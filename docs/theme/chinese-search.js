// mdBook's search finds words between spaces, and drops letters that aren't Latin, so it never finds Chinese. The
// index has the text, too: here a query with Chinese finds the sections that contain it as it is written.
"use strict";
(() => {
  const index = window.elasticlunr?.Index.prototype;
  if (!index) return;

  /** A section as a result, if it contains all of these; what it shows begins a little before the first. */
  const result = (section, words) => {
    const text = `${section.title} ${section.body}`.toLowerCase();
    if (!words.every((word) => text.includes(word))) return [];
    const body = section.body.toLowerCase();
    const start = Math.max(0, body.indexOf(words[0]) - 40);
    // mdBook marks what is between spaces.
    const shown = words.reduce((shown, word) => shown.replaceAll(word, ` ${word} `), body.slice(start, start + 120));
    const score = words.filter((word) => section.title.toLowerCase().includes(word)).length;
    return [{ ref: section.id, score, doc: { ...section, body: shown } }];
  };

  const { search } = index;
  index.search = function (query, options) {
    if (!/\p{Script=Han}/u.test(query)) return search.call(this, query, options);
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const found = Object.values(this.documentStore.docs).flatMap((section) => result(section, words));
    return found.sort((one, other) => other.score - one.score);
  };

  // A query in the address may have been answered already, and mdBook does not answer the same one twice.
  const bar = document.getElementById("mdbook-searchbar");
  for (const query of bar?.value ? [".", bar.value] : []) {
    bar.value = query;
    bar.dispatchEvent(new Event("keyup"));
  }
})();
