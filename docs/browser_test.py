#!/usr/bin/env python3
"""Opens the course, a report and the flame pages in headless Chromium, from the file system.

Every page has to load without an error and without a request to another site, fit windows of 390 and 1400 pixels in
light and dark, and keep doing so with all its folds open. What is wider than the page has to show that it scrolls. axe
judges contrast, names and alt texts. Every chapter has to link to the other language, and to say where it will be as a
site. Every flame graph has to zoom and to search. A result has to stay folded until the reader predicts it. A drill has to be answered by keys, and
remembered.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

try:
    from selenium import webdriver
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.common.alert import Alert
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from axe_core_python.selenium import Axe
except ImportError as missing:
    sys.exit(print(f"skipped: no {missing.name}; pip install selenium axe-core-python"))

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "target/book"
RESULTS = Path(subprocess.check_output([ROOT / ".ci/build", "target"], text=True).strip()) / "lab"
CARD = SITE / "card.png"
WIDTHS = (390, 1400)
SCHEMES = ("light", "dark")

# Elements that stick out of the window although nothing around them scrolls or clips.
SIDEWAYS = """
const root = document.scrollingElement;
if (root.scrollWidth <= root.clientWidth + 1) return null;
const wide = [...document.querySelectorAll("body *")].filter((it) => it.getBoundingClientRect().right > root.clientWidth + 1);
return `scrolls sideways by ${root.scrollWidth - root.clientWidth} px: ` + wide.slice(0, 3).map((it) => it.tagName + "." + it.className).join(", ");
"""
# Tables and code that scroll although nothing shows it.
HINTLESS = """
const scrolls = (it) => it.clientWidth && it.scrollWidth > it.clientWidth + 1;
const boxes = [...document.querySelectorAll(".box, .table-wrapper, pre > code")].filter(scrolls);
return boxes.filter((it) => getComputedStyle(it).backgroundImage === "none").map((it) => it.textContent.trim().slice(0, 40));
"""
BROKEN = """
return [...document.images].filter((it) => it.complete && !it.naturalWidth).map((it) => it.src);
"""

# What a page fetched from elsewhere than the file system. Links that nobody followed are not among it.
ELSEWHERE = """
return performance.getEntriesByType("resource").map((it) => it.name).filter((it) => /^(https?|wss?):/.test(it));
"""
# The rules of axe that hold for pages of ours, of mdBook's and of flame graphs alike.
RULES = ["color-contrast", "document-title", "html-has-lang", "image-alt", "label", "link-name", "meta-viewport", "valid-lang"]


def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    # Without a path, selenium would look for a driver to download.
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def look(driver, page, width, scheme):
    """What is wrong with a page in a window of this width."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    driver.get(page.as_uri())
    faults = [driver.execute_script(SIDEWAYS)]
    driver.execute_script("document.querySelectorAll('details').forEach((it) => { it.open = true; });")
    driver.execute_async_script("requestAnimationFrame(() => setTimeout(arguments[0], 100));")
    closed = driver.execute_script("return document.querySelectorAll('details:not([open])').length;")
    faults += [f"{closed} folds stay closed" if closed else None]
    opened = driver.execute_script(SIDEWAYS)
    faults += [f"with its folds open, it {opened}" if opened else None]
    faults += [f"gives no hint that this scrolls: {text}" for text in driver.execute_script(HINTLESS)]
    faults += [f"does not show {image}" for image in driver.execute_script(BROKEN)]
    faults += [f"fetches {address}" for address in driver.execute_script(ELSEWHERE)]
    # Not all pages in one, which takes minutes, and not mdBook's table of contents, which is a frame.
    if width == min(WIDTHS) and page.name not in ("print.html", "toc.html"):
        found = Axe().run(driver, options={"runOnly": RULES})["violations"]
        faults += [f"{it['id']}: {node['target']} {node['failureSummary'].splitlines()[-1].strip()}" for it in found for node in it["nodes"][:3]]
    faults += [log["message"] for log in driver.get_log("browser") if log["level"] == "SEVERE"]
    return [fault for fault in faults if fault]


def use(driver, graph):
    """What is wrong with a flame graph: it has to zoom into a frame and to find one."""
    driver.get(graph.as_uri())
    top = "[...document.querySelectorAll('#frames > .frame')].at(-1)"
    label = driver.execute_script(f"return {top}?.querySelector('title').textContent.replace(/ \\([^(]*$/, '');")
    if label is None:
        return ["has no frame to zoom into"]
    driver.execute_script(f"{top}.dispatchEvent(new MouseEvent('click', {{ bubbles: true }}));")
    faults = []
    if driver.find_element(By.ID, "unzoom").text != "Reset zoom":
        faults.append("does not zoom")
    driver.execute_script("setTimeout(() => document.getElementById('search').dispatchEvent(new MouseEvent('click', { bubbles: true })));")
    for _ in range(50):
        try:
            alert = Alert(driver)
            alert.send_keys(label)
            alert.accept()
            break
        except WebDriverException:
            driver.implicitly_wait(0.1)
    if "matches" not in driver.find_element(By.ID, "matched").text:
        faults.append(f"does not find `{label}`")
    faults += [log["message"] for log in driver.get_log("browser") if log["level"] == "SEVERE"]
    return faults


def predict(driver, page):
    """What is wrong with a page's first prediction: its form has to open the result, and to be remembered."""
    driver.set_window_size(1400, 900)
    driver.get(page.as_uri())
    driver.execute_script("localStorage.clear();")
    driver.refresh()
    # The words of docs/theme/course.js.
    predicted = "你的预测" if "zh-CN" in page.parts else "You predicted"
    fold, form = (driver.find_element(By.CSS_SELECTOR, it) for it in ("details.predict", "form.prediction"))
    if fold.is_displayed():
        return ["shows a result before the prediction"]
    for choice in form.find_elements(By.CSS_SELECTOR, "input[type=radio]")[:1]:
        choice.click()
    for field in form.find_elements(By.CSS_SELECTOR, "input[name=factor]"):
        field.send_keys("4")
    form.find_element(By.CSS_SELECTOR, "button[type=submit]").click()
    if fold.get_attribute("open") is None or predicted not in fold.text:
        return ["does not show the result with the prediction"]
    driver.refresh()
    said = driver.find_element(By.CSS_SELECTOR, "details.predict .said").get_attribute("textContent")
    return [] if predicted in said else ["forgets the prediction"]


def drill(driver, page):
    """What is wrong with the drills of a page: keys have to answer and to go on, and the first answer to be remembered."""
    driver.set_window_size(1400, 900)
    driver.get(page.as_uri().split("#")[0])
    driver.execute_script("localStorage.clear();")
    driver.refresh()

    def shown():
        return [it for it in driver.find_elements(By.CSS_SELECTOR, "section.drill") if it.is_displayed()]

    def press(key):
        driver.find_element(By.TAG_NAME, "body").send_keys(key)

    [first] = shown()
    if first.find_element(By.TAG_NAME, "details").is_displayed():
        return ["shows the answer to a drill before the reader's"]
    right = int(first.get_attribute("data-right"))
    press(str(right + 1))
    press(str((right + 1) % 4 + 1))
    good = first.find_elements(By.CSS_SELECTOR, ".choice.good, .choice.bad")
    if not first.find_element(By.TAG_NAME, "details").is_displayed() or len(good) != 1:
        return ["does not take the first answer to a drill"]
    if page.name == "index.html":
        press(Keys.ENTER)
        return [] if "drills.html" in driver.current_url else ["does not lead to the next drill"]
    said = driver.find_element(By.CSS_SELECTOR, ".score code").text
    faults = [] if said == "before/after drill 1: 1 of 1" else [f"says `{said}`"]
    press(Keys.ENTER)
    press(Keys.ARROW_RIGHT)
    faults += [] if [it.get_attribute("id") for it in shown()] == ["drill-3"] else ["does not go on by keys"]
    driver.get(page.as_uri())
    faults += [] if [it.get_attribute("id") for it in shown()] == ["drill-2"] else ["forgets the answer to a drill"]
    return faults


def slide(driver, curve):
    """What is wrong with the curve of Little's law: it has to follow its sliders."""
    driver.get(curve.as_uri())
    said = "return document.getElementById('said').textContent;"
    move = """const slider = [...document.querySelectorAll('input[type=range]')].at(-1);
        slider.value = 8; slider.dispatchEvent(new Event('input'));"""
    before = driver.execute_script(said)
    driver.execute_script(move)
    faults = [log["message"] for log in driver.get_log("browser") if log["level"] == "SEVERE"]
    # 16 and 8 at once, each for 50 ms, with a pause of 1 s: the ceiling, and the users from which on it is reached.
    for text, numbers in [(before, ["320", "336"]), (driver.execute_script(said), ["160", "168"])]:
        if re.findall(r"\d+", text) != numbers:
            faults.append(f"says `{text}`, not {' and '.join(numbers)}")
    return faults


def other_language(page):
    """What is wrong with the link to the page in the other language."""
    link = re.search(r'class="language" href="([^"]+)"', page.read_text())
    is_there = link and (page.parent / link[1]).is_file()
    return [] if is_there else ["has no link to a page in the other language"]


def find_chinese(driver, page):
    """What is wrong with the search for Chinese, which mdBook does not have by itself."""
    driver.get(page.as_uri() + "?search=吞吐量")
    for _ in range(50):
        if driver.find_elements(By.CSS_SELECTOR, "#mdbook-searchresults li"):
            return []
        driver.implicitly_wait(0.1)
    return ["does not find 吞吐量"]


def as_a_site(page):
    """What is wrong with what a page says to search engines and to previews of a link to it."""
    text = page.read_text()
    said = [f'<link rel="canonical" href="{page.as_uri()}">', f'<meta property="og:image" content="{CARD.as_uri()}">']
    faults = [f"lacks {it}" for it in said if it not in text]
    return faults + ["has no title for a preview"] * (not re.search(r'og:title" content="[^"]', text))


def build():
    """Builds the pages as of a site that is in the file system; returns them and the flame graphs."""
    report = RESULTS / "browser-test.html"
    record = sorted((ROOT / "docs/record").glob("*/record.json"))[-1]
    for command in (["book", "--no-open"], ["flame", "hot-clone"], ["lab", "report", "--output", report, record]):
        subprocess.run(["just", *command], cwd=ROOT, check=True, env={**os.environ, "SITE_URL": SITE.as_uri()})
    site = SITE / "docs"
    pages = [page for book in (site / "src", site / "zh-CN/src") for page in sorted(book.rglob("*.html"))]
    # mdBook's own, which a site has at its root only.
    pages = [page for page in pages if page.name != "404.html"] + [SITE / "404.html", SITE / "index.html"]
    flames = sorted((RESULTS / "flame").rglob("index.html"))
    # A picture that is not a flame graph, such as a timeline, has no frames.
    pictures = sorted((ROOT / "docs/record").rglob("flame/*/*.svg"))
    results = ROOT / "target/lab/index.html"
    return [*pages, report, results, *flames], [it for it in pictures if 'id="frames"' in it.read_text()]


def main():
    for tool, install in [("chromedriver", "apt install chromium chromium-driver"), ("mdbook", "cargo install --locked mdbook")]:
        if not shutil.which(tool):
            return print(f"skipped: no {tool}; {install}")
    try:
        driver = browser()
    except WebDriverException as error:
        return print(f"skipped: Chromium does not start: {error.msg}")
    bad = 0
    with driver:
        pages, graphs = build()
        for page in pages:
            for width in WIDTHS:
                for scheme in SCHEMES:
                    for fault in look(driver, page, width, scheme):
                        bad += 1
                        print(f"{page.relative_to(ROOT)}, {width} px, {scheme}: {fault}")
        # Those that mdBook makes besides are no chapters.
        chapters = [page for page in pages if page.is_relative_to(SITE / "docs") and page.name not in ("print.html", "toc.html")]
        for page in chapters:
            for fault in [*other_language(page), *as_a_site(page)]:
                bad += 1
                print(f"{page.relative_to(ROOT)}: {fault}")
        for fault in find_chinese(driver, ROOT / "target/book/docs/zh-CN/src/index.html"):
            bad += 1
            print(f"the Chinese book {fault}")
        asking = [page for page in pages if '<details class="predict"' in page.read_text() and page.name != "print.html"]
        for page in asking:
            for fault in predict(driver, page):
                bad += 1
                print(f"{page.relative_to(ROOT)}: {fault}")
        for page in (ROOT / f"target/book/docs/{book}/{name}" for book in ("src", "zh-CN/src") for name in ("index.html", "drills.html")):
            for fault in drill(driver, page):
                bad += 1
                print(f"{page.relative_to(ROOT)}: {fault}")
        for fault in slide(driver, ROOT / "target/book/docs/src/pictures/littles-law.svg"):
            bad += 1
            print(f"the curve of Little's law {fault}")
        for graph in graphs:
            for fault in use(driver, graph):
                bad += 1
                print(f"{graph.relative_to(ROOT)}: {fault}")
    print(f"{len(pages)} pages, {len(asking)} with predictions, and {len(graphs)} flame graphs: {bad or 'no'} faults")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
