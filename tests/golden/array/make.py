"""Writes the golden arrays beside this file: stores by TensorStore, and their elements.

    python tests/golden/array/make.py        (tensorstore 0.1.86, ml_dtypes, numpy)

<case>/zarr/     the array as TensorStore's file driver left it
<case>/expect    one line: dtype and shape
<case>/elements  its elements in C order, little endian; one byte for sub-byte types,
                 the sign extended
fills.txt        fill values: type, as in zarr.json, bytes of the element
"""

import json
import os
import random
import shutil

import ml_dtypes
import numpy as np
import tensorstore as ts

HERE = os.path.dirname(os.path.abspath(__file__))
LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
BIG = {"name": "bytes", "configuration": {"endian": "big"}}
BYTES = {"name": "bytes"}
CRC = {"name": "crc32c"}
ZSTD = {"name": "zstd", "configuration": {"level": 3}}


def transpose(order):
  return {"name": "transpose", "configuration": {"order": order}}


def shard(sub, codecs, index=None, location="end"):
  return {
      "name": "sharding_indexed",
      "configuration": {
          "chunk_shape": sub,
          "codecs": codecs,
          "index_codecs": index or [LITTLE, CRC],
          "index_location": location,
      },
  }


def count(dtype, shape):
  """0, 1, 2 ... as far as the type goes."""
  n = int(np.prod(shape))
  if dtype == "bool":
    return (np.arange(n) % 3 == 0).reshape(shape)
  if dtype in ("int4", "int2"):
    bits = int(dtype[3:])
    values = np.arange(n) % (1 << bits) - (1 << (bits - 1))
    return values.astype(getattr(ml_dtypes, dtype)).reshape(shape)
  if dtype.startswith(("float8", "float4", "bfloat16")):
    return (np.arange(n) % 13 / 2).astype(getattr(ml_dtypes, dtype)).reshape(shape)
  if dtype.startswith("complex"):
    return (np.arange(n) - 1j * np.arange(n) / 4).astype(dtype).reshape(shape)
  return (np.arange(n) * 3 - (0 if dtype[0] == "u" else 7)).astype(dtype).reshape(shape)


def elements(a):
  name = a.dtype.name
  if name in ("int4", "int2"):
    return a.astype(np.int8).tobytes()
  if name.startswith(("float4", "float8")):
    return a.view(np.uint8).tobytes()
  return a.astype(a.dtype.newbyteorder("<")).tobytes() if a.dtype.kind in "iufcb" else a.tobytes()


def make(case, driver, dtype, shape, metadata, write=None, store_all=True):
  root = os.path.join(HERE, case)
  shutil.rmtree(root, ignore_errors=True)
  spec = {
      "driver": driver,
      "kvstore": {"driver": "file", "path": os.path.join(root, "zarr") + "/"},
      "dtype": dtype,
      "metadata": dict(metadata, shape=shape),
      "store_data_equal_to_fill_value": store_all,
      "create": True,
  }
  t = ts.open(spec).result()
  data = count(dtype, shape)
  for box in write or [tuple(slice(None) for _ in shape)]:
    t[box].write(data[box]).result()
  back = t.read().result()
  with open(os.path.join(root, "expect"), "w") as f:
    f.write(" ".join([dtype] + [str(n) for n in shape]) + "\n")
  with open(os.path.join(root, "elements"), "wb") as f:
    f.write(elements(np.ascontiguousarray(back)))


def v2(case, dtype, shape, chunks, write=None, store_all=True, stored=None, **more):
  metadata = {"chunks": chunks, "compressor": None, "filters": None, "fill_value": None}
  plain = dtype if hasattr(ml_dtypes, dtype) else np.dtype(dtype).newbyteorder("<").str
  metadata["dtype"] = stored or plain
  metadata.update(more)
  make(case, "zarr", dtype, shape, metadata, write, store_all)


def v3(case, dtype, shape, chunk, codecs, write=None, store_all=True, **more):
  metadata = {
      "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
      "codecs": codecs,
      "data_type": dtype,
  }
  metadata.update(more)
  make(case, "zarr3", dtype, shape, metadata, write, store_all)


CORNER = [(slice(0, 2), slice(0, 3))]

v2("v2-order-f", "int16", [5, 7, 3], [2, 4, 3], order="F")
v2("v2-order-f-zstd", "float64", [4, 6], [3, 4], order="F", compressor={"id": "zstd"})
v2("v2-big-f4", "float32", [3, 4], [2, 4], stored=">f4")
v2("v2-big-c16", "complex128", [5], [2], stored=">c16")
v2("v2-big-i8-order-f", "int64", [3, 5], [2, 2], order="F", stored=">i8")
v2("v2-slash", "uint8", [3, 5], [2, 2], dimension_separator="/")
v2("v2-gzip", "int32", [40, 9], [16, 9], compressor={"id": "gzip", "level": 5})
v2("v2-zlib", "uint32", [40, 9], [16, 9], compressor={"id": "zlib", "level": 9})
v2("v2-zstd-22", "int32", [40, 9], [16, 9], compressor={"id": "zstd", "level": 22})
v2("v2-scalar", "float64", [], [])
v2("v2-bool-fill", "bool", [4, 6], [2, 3], write=CORNER, fill_value=True)
v2("v2-nan-fill", "float32", [4, 6], [2, 3], write=CORNER, fill_value="NaN")
v2("v2-c8-fill", "complex64", [4, 6], [2, 3], write=CORNER, fill_value=[1.5, "-Infinity"])
v2("v2-big-fill", "int16", [4, 6], [2, 3], write=CORNER, fill_value=-300, stored=">i2")
v2("v2-int4", "int4", [3, 7], [2, 4])
v2("v2-bfloat16", "bfloat16", [3, 7], [2, 4], compressor={"id": "zstd"})
v2("v2-elided", "int32", [6, 6], [2, 3], fill_value=-7, store_all=False)

v3("v3-plain", "int32", [5, 7], [2, 3], [LITTLE])
v3("v3-big", "float64", [5, 7], [2, 3], [BIG, ZSTD])
v3("v3-big-complex", "complex64", [5, 7], [2, 3], [BIG])
v3("v3-gzip", "uint16", [50, 7], [20, 7], [LITTLE, {"name": "gzip", "configuration": {"level": 6}}])
v3("v3-zstd-checksum", "int64", [9], [4], [LITTLE, {"name": "zstd", "configuration": {"level": 1, "checksum": True}}])
v3("v3-crc32c", "float32", [5, 7], [2, 3], [LITTLE, CRC])
v3("v3-crc32c-zstd-crc32c", "float32", [5, 7], [2, 3], [LITTLE, CRC, ZSTD, CRC])
for i, order in enumerate(([1, 2, 0], [2, 0, 1], [2, 1, 0])):
  v3("v3-transpose-%d" % i, "int16", [2, 3, 4], [2, 3, 4], [transpose(order), LITTLE])
v3("v3-transpose-twice", "int16", [4, 3, 5], [2, 3, 4], [transpose([1, 2, 0]), transpose([2, 1, 0]), LITTLE])
v3("v3-shards", "int32", [10, 12], [4, 6], [shard([2, 3], [LITTLE, ZSTD])])
v3("v3-shards-start", "int32", [10, 12], [4, 6], [shard([2, 2], [LITTLE], [BIG, CRC], "start")])
v3("v3-shards-no-sum", "uint8", [10, 12], [4, 6], [shard([1, 6], [BYTES, CRC], [LITTLE])])
v3("v3-shards-transposed-index", "int32", [8, 6], [4, 6], [shard([2, 3], [LITTLE], [transpose([2, 0, 1]), LITTLE, CRC])])
v3("v3-transpose-shards", "int16", [4, 6, 8], [2, 6, 4], [transpose([2, 0, 1]), shard([2, 1, 3], [transpose([1, 2, 0]), BIG, ZSTD])])
v3("v3-nested-shards", "float32", [8, 8], [8, 8], [shard([4, 8], [shard([2, 4], [LITTLE, ZSTD], [LITTLE, CRC], "start")])])
v3("v3-gaps", "int16", [8, 6], [4, 6], [shard([2, 2], [LITTLE])], write=[(slice(0, 2), slice(0, 3)), (slice(3, 4), slice(5, 6))], fill_value=-9, store_all=False)
v3("v3-nan-fill", "float32", [4, 6], [2, 3], [LITTLE], write=CORNER, fill_value="0x7fc00123")
v3("v3-c16-fill", "complex128", [4, 6], [2, 3], [LITTLE], write=CORNER, fill_value=["NaN", 0.1])
v3("v3-scalar", "float64", [], [], [shard([], [LITTLE, ZSTD])])
v3("v3-keys-dot", "int8", [3, 5], [2, 2], [BYTES], chunk_key_encoding={"name": "default", "configuration": {"separator": "."}})
v3("v3-keys-v2", "int8", [3, 5], [2, 2], [BYTES], chunk_key_encoding={"name": "v2"})
v3("v3-keys-v2-slash", "int8", [3, 5], [2, 2], [BYTES], chunk_key_encoding={"name": "v2", "configuration": {"separator": "/"}})
v3("v3-keys-v2-scalar", "bool", [], [], [BYTES], chunk_key_encoding={"name": "v2"})
v3("v3-names", "uint64", [3, 2], [3, 2], [LITTLE], dimension_names=["x", None], attributes={"a": 1})
for t in ("int2", "int4", "float4_e2m1fn", "float8_e3m4", "float8_e4m3fn", "float8_e4m3fnuz",
          "float8_e4m3b11fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"):
  # TensorStore turns the fill value 0.5 into 2^-65 for e8m0fnu; 0 is right.
  fill = 1 if t[0] == "i" else 0.0 if "e8m0" in t else 0.5
  v3("v3-" + t, t, [3, 7], [2, 4], [shard([1, 2], [BYTES, CRC])], fill_value=fill,
     write=[(slice(0, 2), slice(0, 7))])


def fill_bits(dtype, value):
  metadata = {
      "data_type": dtype,
      "fill_value": value,
      "shape": [1],
      "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1]}},
      "codecs": [LITTLE],
  }
  spec = {"driver": "zarr3", "kvstore": {"driver": "memory"}, "metadata": metadata, "create": True}
  return ts.open(spec).result().read().result().tobytes().hex()


rng = random.Random(1)
values = [0.0, -0.0, 1e-9, -1e-9, 1e9, -1e9, "NaN", "Infinity", "-Infinity"]
values += [rng.uniform(-1, 1) * 2.0 ** rng.randint(-18, 17) for _ in range(60)]
values += [448, 464, 465, 480, 240, 248, 249, 57344, 61440, 61439.9, 65504, 65519, 65520]
values += [6, 7, 5, 0.25, 0.75, 30, 31, 15.5, 15.75, 15.25, 2**-10, 2**-11, 1.0000001 * 2**-10]
with open(os.path.join(HERE, "fills.txt"), "w") as f:
  for t in ("float4_e2m1fn", "float8_e3m4", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz",
            "float8_e5m2", "float8_e5m2fnuz", "float16", "bfloat16", "float32", "float64"):
    for v in values:
      f.write("%s %s %s\n" % (t, json.dumps(v), fill_bits(t, v)))
