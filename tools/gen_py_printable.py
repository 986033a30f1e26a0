"""Writes runtime/base/py_printable.inc: the ranges of code points that Python's
repr does not escape, as str.isprintable of Python 3.11 (Unicode 14) says.

    python3.11 tools/gen_py_printable.py > runtime/base/py_printable.inc
"""

import sys
import unicodedata

if unicodedata.unidata_version != "14.0.0":
    sys.exit("want Unicode 14.0.0 (Python 3.11), have " + unicodedata.unidata_version)


def ranges():
    first = None
    for cp in range(0x110001):
        printable = cp < 0x110000 and chr(cp).isprintable()
        if printable and first is None:
            first = cp
        elif not printable and first is not None:
            yield first, cp - 1
            first = None


print("/* Written by tools/gen_py_printable.py from Unicode 14.0.0. */")
print("/* clang-format off */")
for first, last in ranges():
    print(f"{{0x{first:x}, 0x{last:x}}},")
