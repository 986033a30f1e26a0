"""Writes the golden files of this folder from Python's json and repr, and from
TensorStore's json driver.

    python3.11 tests/golden/json/generate.py     (needs tensorstore, Unicode 14)

documents.txt   three lines a document: text; json.dumps of what it means; the
                same with indent=2 and raw UTF-8, as a JSON string
reals.txt       a line a double: hexadecimal, Python's repr, TensorStore's text
repr.txt        two lines a string: the string and its repr, as JSON strings
repr_pages.txt  a line each 4096 code points: the first one and the CRC-32 of
                the repr of them all (without surrogates), so that every code
                point is covered
"""

import json
import os
import random
import struct
import sys
import unicodedata
import zlib

import tensorstore as ts

HERE = os.path.dirname(os.path.abspath(__file__))

DOCUMENTS = [
    "null", "true", "false", "0", "-0", "-1", " \t 7 \t",
    "9223372036854775807", "-9223372036854775808", "9223372036854775808",
    "-9223372036854775809", "123456789012345678901234567890",
    "1.0", "-0.0", "1e5", "1E+2", "1e-7", "1e16", "1e15", "0.1", "1e999",
    "-1e999", "1e-999", "NaN", "Infinity", "-Infinity", "[NaN,-Infinity]",
    '""', '"a"', r'"\"\\\/\b\f\n\r\t"', r'"\u0000\u001f\u007f\u0080"',
    r'"\u00e9\u20ac\ud83d\ude00"', '"\u00e9\u20ac\U0001f600"', '"\x7f"',
    r'"\u2028\u2029\ufeff\uffff\ud7ff\ue000\udbff\udfff"', r'"\u00E9\uABCD"',
    "[]", "{}", "[ ]", "{ }", "[[]]", "[{}]", '{"":{}}', "[1,2,3]",
    "[ 1 , [ 2 , { } ] , null ]",
    '{"b":1,"a":2}', '{"a":1,"a":2}', '{"a":1,"b":2,"a":3,"c":4,"b":5}',
    r'{"a\u0000b":1,"a":{"x":[1.5,true]}}',
    '{"a":{"b":{"c":{"d":[[[[1]]]]}}}}',
    '{"k0":0,"k1":1,"k2":2,"k3":3,"k4":4,"k5":5,"k6":6,"k7":7,"k8":8,'
    '"k3":33,"k9":9,"k0":"zero","k8":null}',
    '{"tree_metadata":{"(\'params\', \'w\')":{"key_metadata":[{"key":"params",'
    '"key_type":2}],"value_metadata":{"value_type":"jax.Array",'
    '"skip_deserialize":false,"write_shape":[4,8]}}},"use_ocdbt":true}',
]

STRINGS = [
    "", "a", "it's", 'say "x"', "it's \"x\"", "\\", "\n\r\t\b\f\0\x1f\x7f",
    "\x80\x85\xa0\xad\xff", "\u0378\u200b\u2028\u3000\ue000\ufeff\uffff",
    "\u00e9\u20ac\u4e2d", "\U0001f600\U0001fae0\U000e0001\U0010ffff",
    "params/w", "'", "\"", "'\\'", "\u0301e",
]


def reals():
    rng = random.Random(20240229)
    yield from [1e23, 9007199254740993.0, 5e-324, 2.2250738585072014e-308,
                2.225073858507201e-308, 1.7976931348623157e308, 0.1, 0.3,
                123456789012345680.0, 4.35, 2.0**63, 2.0**64, 1 / 3, 100.0]
    yield from (float(f"1e{k}") for k in range(-323, 309))
    yield from (2.0**k for k in range(-1074, 1024, 3))
    yield from (2.0**k for k in range(-60, 70))
    yield from (float(f"9.5e{k}") for k in range(-8, 25))
    for _ in range(4000):
        r = struct.unpack("<d", rng.randbytes(8))[0]
        if r == r and abs(r) != float("inf") and r != 0:
            yield r
    for _ in range(1500):
        yield round(rng.uniform(-1000, 1000), rng.randrange(8))
    for _ in range(500):
        yield rng.randrange(1, 2**20) * 5e-324
    for _ in range(500):
        yield float(struct.unpack("<f", struct.pack("<f", rng.gauss(0, 1)))[0])


def tensorstore_texts(values):
    context = ts.Context()
    spec = {"driver": "json", "kvstore": "memory://golden.json"}
    ts.open(spec, context=context).result().write(values).result()
    kv = ts.KvStore.open("memory://", context=context).result()
    text = kv.read("golden.json").result().value.decode()
    return text[1:-1].split(",")


def write(name, lines):
    with open(os.path.join(HERE, name), "w", encoding="utf-8", newline="\n") as f:
        f.writelines(line + "\n" for line in lines)


def document_lines():
    for text in DOCUMENTS:
        value = json.loads(text)
        yield text
        yield json.dumps(value)
        yield json.dumps(json.dumps(value, indent=2, ensure_ascii=False))


def real_lines():
    values = list(dict.fromkeys(reals()))
    for r, text in zip(values, tensorstore_texts(values), strict=True):
        yield f"{r.hex()} {r!r} {text}"


def page_lines():
    for first in range(0, 0x110000, 4096):
        page = (cp for cp in range(first, first + 4096)
                if not 0xD800 <= cp < 0xE000)
        text = repr("".join(map(chr, page)))
        yield f"{first:x} {zlib.crc32(text.encode()):08x}"


if unicodedata.unidata_version != "14.0.0":
    sys.exit("want Unicode 14.0.0 (Python 3.11)")
write("documents.txt", document_lines())
write("reals.txt", real_lines())
write("repr.txt", (json.dumps(x) for s in STRINGS for x in (s, repr(s))))
write("repr_pages.txt", page_lines())
