"""Counts the instructions of one request of each case, in process and under Valgrind, which repeats exactly:
`just replicate instructions`, with the options of Gungraun after `--`.
"""

import subprocess
import sys


def main():
    if sys.argv[1:2] in (["-h"], ["--help"]):
        print(__doc__.strip())
        return
    command = "cargo bench --package benches --features instructions --bench instructions"
    sys.exit(subprocess.run([*command.split(), *sys.argv[1:]]).returncode)
