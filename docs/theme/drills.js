// A drill is readable as it is: a table, a question, four answers, and a fold that says why each is right or wrong. Here
// it is asked: the answers become buttons, and the fold opens once one is chosen. The page of all drills shows one at a
// time. The first answer to each stays in this browser. Works on a page opened from the file system.
"use strict";
(() => {
  const drills = [...document.querySelectorAll("main section.drill")];
  if (!drills.length || location.pathname.endsWith("/print.html")) return;
  const words = document.documentElement.lang.startsWith("zh")
    ? { right: "对。", wrong: "不是这个。答案是 ", end: "。", next: "下一道", copy: "复制", copied: "已复制", again: "从头再来", drill: "小测" }
    : { right: "Right.", wrong: "Not that one. The answer is ", end: ".", next: "Next drill", copy: "Copy", copied: "Copied", again: "Start over", drill: "Drill" };

  const element = (name, attributes, ...children) => {
    const made = Object.assign(document.createElement(name), attributes);
    made.append(...children);
    return made;
  };
  const button = (className, text, act) => {
    const made = element("button", { type: "button", className }, text);
    made.addEventListener("click", act);
    return made;
  };

  // The browser may refuse to keep anything.
  const key = (drill) => `drill ${drill.dataset.name}`;
  const memory = new Map();
  const given = (drill) => {
    let said = memory.get(key(drill));
    try { said ??= localStorage.getItem(key(drill)); } catch { /* Only this visit counts. */ }
    return said == null ? null : Number(said);
  };
  const keep = (drill, answer) => {
    memory.set(key(drill), answer);
    try { localStorage.setItem(key(drill), answer); } catch { /* It is shown all the same. */ }
  };
  const right = (drill) => Number(drill.dataset.right);
  const isAlone = drills.length === 1;
  let current = 0;

  const choices = (drill) => [...drill.querySelectorAll(".choice")];
  const fold = (drill) => drill.querySelector("details");

  /** Turns the answers into buttons. */
  const prepare = (drill) => {
    const list = drill.querySelector("ol");
    for (const [answer, item] of [...list.children].entries()) {
      const choice = button("choice", "", () => choose(drill, answer));
      choice.append(...item.childNodes);
      item.append(choice);
    }
    list.classList.add("choices");
    fold(drill).before(element("p", { className: "verdict", role: "status" }));
    show(drill);
  };

  /** Shows a drill as it is: open, or answered. */
  const show = (drill) => {
    const answer = given(drill);
    const isOpen = answer === null;
    for (const [nth, choice] of choices(drill).entries()) {
      choice.classList.toggle("good", !isOpen && nth === right(drill));
      choice.classList.toggle("bad", nth === answer && nth !== right(drill));
      choice.setAttribute("aria-disabled", String(!isOpen));
    }
    fold(drill).hidden = isOpen;
    fold(drill).open = !isOpen;
    const verdict = drill.querySelector(".verdict");
    verdict.replaceChildren();
    if (isOpen) return;
    verdict.append(answer === right(drill) ? words.right : `${words.wrong}${right(drill) + 1}${words.end}`);
    if (isAlone) verdict.append(" ", element("a", { href: "drills.html" }, words.next));
    else if (drill !== drills.at(-1)) verdict.append(" ", button("onward", words.next, () => go(current + 1)));
  };

  const choose = (drill, answer) => {
    if (given(drill) !== null) return;
    keep(drill, answer);
    show(drill);
    summarize();
  };

  // The page of all drills: one at a time, below a bar.
  const steps = element("div", { className: "steps" });
  const line = element("code", {});
  const summarize = () => {
    const answered = drills.filter((drill) => given(drill) !== null);
    const good = answered.filter((drill) => given(drill) === right(drill));
    line.textContent = `before/after drill ${current + 1}: ${good.length} of ${answered.length}`;
    for (const [nth, step] of [...steps.children].entries()) {
      const answer = given(drills[nth]);
      step.classList.toggle("good", answer === right(drills[nth]));
      step.classList.toggle("bad", answer !== null && answer !== right(drills[nth]));
      if (nth === current) step.setAttribute("aria-current", "true");
      else step.removeAttribute("aria-current");
    }
  };
  const go = (to, stays = false) => {
    current = Math.min(Math.max(to, 0), drills.length - 1);
    drills.forEach((drill, nth) => { drill.hidden = nth !== current; });
    if (!stays) {
      history.replaceState(null, "", `#${drills[current].id}`);
      steps.scrollIntoView({ block: "nearest" });
    }
    summarize();
  };
  const asked = () => drills.findIndex((drill) => `#${drill.id}` === location.hash);

  const collect = () => {
    for (const nth of drills.keys()) {
      const step = button("step", String(nth + 1), () => go(nth));
      step.setAttribute("aria-label", `${words.drill} ${nth + 1}`);
      steps.append(step);
    }
    const copy = button("", words.copy, async () => {
      try {
        await navigator.clipboard.writeText(line.textContent);
      } catch {
        // Without a server, a browser may have no clipboard: select the line instead.
        getSelection().selectAllChildren(line);
        return;
      }
      copy.textContent = words.copied;
      setTimeout(() => { copy.textContent = words.copy; }, 2000);
    });
    const again = button("", words.again, () => {
      memory.clear();
      try { drills.forEach((drill) => localStorage.removeItem(key(drill))); } catch { /* Nothing was kept. */ }
      drills.forEach(show);
      go(0);
    });
    drills[0].before(steps);
    drills.at(-1).after(element("div", { className: "score" }, line, copy, again));
    const open = drills.findIndex((drill) => given(drill) === null);
    go(asked() >= 0 ? asked() : Math.max(open, 0), true);
    addEventListener("hashchange", () => { if (asked() >= 0) go(asked(), true); });
  };

  drills.forEach(prepare);
  if (!isAlone) collect();

  const isInSight = (drill) => {
    const { top, bottom } = drill.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  };
  // Before mdBook, for which the arrows turn to another chapter.
  addEventListener("keydown", (event) => {
    const drill = drills[current];
    const isTyping = event.target.closest?.("input, textarea, select, [contenteditable]");
    if (isTyping || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey || !isInSight(drill)) return;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (/^[1-4]$/.test(event.key)) {
      choose(drill, Number(event.key) - 1);
    } else if (step && !isAlone) {
      go(current + step);
    } else if (event.key === "Enter" && given(drill) !== null && !event.target.closest?.("a, summary, button:not(.choice)")) {
      if (isAlone) location.href = drill.querySelector(".verdict a").href;
      else go(current + 1);
    } else {
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
  }, true);

  // All of them on paper.
  addEventListener("beforeprint", () => drills.forEach((drill) => { drill.hidden = false; fold(drill).hidden = false; }));
  addEventListener("afterprint", () => { drills.forEach(show); if (!isAlone) go(current, true); });
})();
