#!/usr/bin/env python3
"""Runs a command and draws what it prints on a terminal of 80 columns: `just picture`, for the README."""

import argparse
import os
import shlex
import subprocess
import sys
from pathlib import Path

try:
    from rich.console import Console, CONSOLE_SVG_FORMAT
    from rich.text import Text
except ImportError:
    sys.exit("error: no rich, which draws terminals; pip install rich")

COLUMNS = 80


def main() -> None:
    parser = argparse.ArgumentParser(prog="just picture", description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("command", nargs="+")
    chosen = parser.parse_args()
    # As on a terminal, but without the progress: that is on stderr.
    colours = {**os.environ, "CLICOLOR_FORCE": "1", "COLUMNS": str(COLUMNS)}
    ran = subprocess.run(chosen.command, env=colours, stdout=subprocess.PIPE, text=True)
    if ran.returncode:
        sys.exit(f"error: `{' '.join(chosen.command)}` ended with exit code {ran.returncode}; nothing was drawn")
    console = Console(record=True, width=COLUMNS, file=open(os.devnull, "w"), force_terminal=True, color_system="standard")
    console.print(f"$ {shlex.join(chosen.command)}", highlight=False)
    console.print(Text.from_ansi(ran.stdout.rstrip("\n")))
    # Without the fonts, which a reader's browser would fetch from another site.
    before, fonts = CONSOLE_SVG_FORMAT.split("@font-face", 1)
    after = fonts[fonts.index(".{unique_id}-matrix") :]
    drawn = console.export_svg(title="", code_format=(before + after).replace("Fira Code, monospace", "monospace"), unique_id="lab")
    chosen.out.write_text("\n".join(line.rstrip() for line in drawn.splitlines()) + "\n")
    print(f"drawn: {chosen.out}")


if __name__ == "__main__":
    main()
