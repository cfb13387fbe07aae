"""Draws when a browser loaded each file of a page: one panel a proxy, all on one time scale, as one SVG."""

from html import escape

WIDTH, LEFT, RIGHT, TOP = 900, 70, 24, 80
BAR, PITCH, GAP, TITLE, BETWEEN = 7, 8, 7, 24, 14
GROUPS = [("page", "/"), ("styles", "/css/"), ("scripts", "/js/"), ("fonts", "/fonts/"), ("images", "/images/")]
PHASES = [("queue", "waits for a free connection"), ("connect", "connects"), ("wait", "waits for the first byte"),
          ("body", "receives the body")]
STYLE = """
svg { --ink: #1c2024; --muted: #5b6570; --grid: #dfe3e8; --paper: #ffffff; --queue: #c3cad2; --connect: #7d5bbe; --wait: #d9660f; --body: #2f8fd0;
  background: var(--paper); color-scheme: light dark; font: 13px system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif;
  max-width: 100%; height: auto; }
@media screen and (prefers-color-scheme: dark) {
  svg { --ink: #e8eaed; --muted: #a3adb8; --grid: #2f353c; --paper: #15181b; --queue: #4a525c; --connect: #b79bec; --wait: #f08a3c; --body: #6fc0f5; }
}
text { fill: var(--ink); } .head { font-size: 17px; font-weight: 650; } .name { font-size: 14px; font-weight: 650; } .muted { fill: var(--muted); }
.grid { stroke: var(--grid); } .done { stroke: var(--ink); stroke-dasharray: 3 2; }
.queue { fill: var(--queue); } .connect { fill: var(--connect); } .wait { fill: var(--wait); } .body { fill: var(--body); }
"""


def phases(it):
    """The phases of one file, as name, start and end in ms."""
    connect = min(max(it["connect"], it["start"]), it["request"])
    connected = min(max(it["connected"], connect), it["request"])
    parts = [("queue", it["start"], connect), ("connect", connect, connected), ("queue", connected, it["request"]),
             ("wait", it["request"], it["response"]), ("body", it["response"], it["end"])]
    return [part for part in parts if part[2] > part[1]]


def ticks(end):
    step = next(step for step in (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000) if end / step <= 10)
    return [step * count for count in range(int(end / step) + 1)]


def panel(name, what, timings, y, x):
    """One proxy's bars from `y` down; returns the elements, and where they end."""
    done = max(it["end"] for it in timings)
    heading = f'<tspan class="name">{escape(name)}, {done:,.0f} ms</tspan> <tspan class="muted" dx="6">{escape(what)}</tspan>'
    out = [f'<text x="{LEFT}" y="{y + 14}">{heading}</text>']
    y = top = y + TITLE
    for group, prefix in GROUPS:
        found = [it for it in timings if (it["path"] == "/" if prefix == "/" else it["path"].startswith(prefix))]
        out.append(f'<text class="muted" text-anchor="end" x="{LEFT - 8}" y="{y + len(found) * PITCH / 2 + 4:.1f}">{group}</text>')
        for it in sorted(found, key=lambda it: (it["request"], it["end"])):
            bars = "".join(
                f'<rect class="{phase}" x="{x(start):.1f}" y="{y}" width="{max(x(end) - x(start), 0.5):.1f}" height="{BAR}"/>'
                for phase, start, end in phases(it)
            )
            out.append(f"<g><title>{escape(it['path'])}: {it['start']:.0f} to {it['end']:.0f} ms</title>{bars}</g>")
            y += PITCH
        y += GAP
    y -= GAP
    out.append(f'<path class="done" d="M{x(done):.1f} {top - 2}V{y + 2}"/>')
    return out, y


def draw(title, panels):
    """`panels` have a name, what it means, and the timings of one load."""
    end = max(it["end"] for *_, timings in panels for it in timings)
    scale = (WIDTH - LEFT - RIGHT) / end

    def x(ms):
        return LEFT + ms * scale

    y, out = TOP, []
    for name, what, timings in panels:
        elements, bottom = panel(name, what, timings, y, x)
        out += elements
        y = bottom + BETWEEN
    bottom = y - BETWEEN + 6
    marks = ticks(end)
    grid = [f'<path class="grid" d="M{x(tick):.1f} {TOP + TITLE - 4}V{bottom}"/>' for tick in marks]
    grid += [f'<text class="muted" text-anchor="middle" x="{x(tick):.1f}" y="{bottom + 16}">{tick}</text>'
             for tick in marks]
    used = {phase for *_, timings in panels for it in timings for phase, *_ in phases(it)}
    legend, place = [], LEFT
    for phase, label in PHASES:
        if phase not in used:
            continue
        legend.append(f'<rect class="{phase}" x="{place}" y="46" width="14" height="10" rx="1"/><text x="{place + 20}" y="56">{label}</text>')
        place += 48 + 6.6 * len(label)
    height = bottom + 40
    names = ", ".join(name for name, *_ in panels)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img"',
        f' aria-label="{escape(title)}">',
        f"<title>{escape(title)}</title>",
        f"<desc>When each of the 19 files was requested and received, in ms since the start of the load: "
        f"{escape(names)}.</desc>",
        f"<style>{STYLE}</style>",
        f'<text class="head" x="{LEFT}" y="28">{escape(title)}</text>',
        *legend, *grid, *out,
        f'<text class="muted" text-anchor="middle" x="{(LEFT + WIDTH - RIGHT) / 2}" y="{bottom + 34}">ms since the start of the load</text>',
        "</svg>", "",
    ])
