"""A sixteenth of the golden vector files, others with each commit, are what the builder makes. Usage: vectors.py PART

`tiebreak vectors check`, which takes many minutes of a processor, does them all; so does `pytest -m slow`.
"""

import itertools
import sys
from concurrent.futures import ProcessPoolExecutor

from tiebreak.golden.builder import all_files, build_file, file_name
from tiebreak.golden.vectorfile import VECTORS

PARTS = 16


def main(part: int) -> int:
    files = list(itertools.islice(all_files(), part % PARTS, None, PARTS))
    with ProcessPoolExecutor() as pool:
        texts = list(pool.map(build_file, *zip(*files, strict=True)))
    names = list(itertools.starmap(file_name, files))
    wrong = [name for name, text in zip(names, texts, strict=True) if (VECTORS / name).read_text("utf-8") != text]
    print(f"{len(names)} vector files built again, these differ: {', '.join(wrong) or 'none'}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1], 16)))
