"""State trees that both Cairn and Orbax save: made by rule from a seed, so that
whoever saved one, anybody can say what must come back.

A tree is dicts, lists and tuples of leaves: numpy arrays, numbers, text, None,
empty containers, and Mesh: an array laid over devices (a jax.Array to Orbax).
JAX is not needed here."""

import collections
import dataclasses
import functools
import zlib

import ml_dtypes
import numpy as np

DEVICES = 8

DTYPES = {t: np.dtype(getattr(ml_dtypes, t) if hasattr(ml_dtypes, t) else t) for t in (
    "bool int2 int4 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float4_e2m1fn "
    "float8_e3m4 float8_e4m3fn float8_e4m3fnuz float8_e4m3b11fnuz float8_e5m2 "
    "float8_e5m2fnuz float8_e8m0fnu float16 bfloat16 float32 float64 complex64 "
    "complex128").split()}
BITS = {"int2": 2, "int4": 4, "float4_e2m1fn": 4}  # one byte each all the same


# Fields are not in the order of the alphabet.
Moments = collections.namedtuple("Moments", ["nu", "mu", "count"])


@dataclasses.dataclass
class Mesh:
    """value laid over DEVICES devices; spec as a jax.sharding.PartitionSpec."""
    value: np.ndarray
    shape: tuple
    axes: tuple
    spec: tuple

    def replicas(self):
        used = 1
        for entry in self.spec:
            for axis in _axes(entry):
                used *= self.shape[self.axes.index(axis)]
        return DEVICES // used

    def box(self, device):
        """(origin, extent) of the part on the device-th device."""
        at = dict(zip(self.axes, np.unravel_index(device, self.shape)))
        origin, extent = [], []
        for i, n in enumerate(self.value.shape):
            parts, place = 1, 0
            for axis in _axes(self.spec[i] if i < len(self.spec) else None):
                size = self.shape[self.axes.index(axis)]
                parts, place = parts * size, place * size + int(at[axis])
            origin.append(n // parts * place)
            extent.append(n // parts)
        return origin, extent


def _axes(entry):
    return () if entry is None else (entry,) if isinstance(entry, str) else tuple(entry)


def raw(array):
    """C order, little endian; of sub-byte types one byte an element, the value
    in the low bits."""
    out = np.ascontiguousarray(array).tobytes()
    bits = BITS.get(np.asarray(array).dtype.name)
    if bits:
        out = (np.frombuffer(out, np.uint8) & ((1 << bits) - 1)).tobytes()
    return out


def from_raw(data, dtype, shape):
    return np.frombuffer(data, DTYPES[dtype]).reshape(shape)


def values(seed, dtype, shape):
    """Any bit patterns, NaNs and infinities too."""
    rng = np.random.default_rng(zlib.crc32(f"{seed} {dtype} {shape}".encode()))
    dt = DTYPES[dtype]
    n = int(np.prod(shape, dtype=np.int64))
    data = rng.integers(0, 256, n * dt.itemsize, np.uint8)
    if dtype == "bool":
        data &= 1
    if dtype in BITS:
        bits = BITS[dtype]
        data &= (1 << bits) - 1
        if dtype.startswith("int"):  # numpy's arrays of these are sign-extended
            data = ((data.astype(np.int8) << (8 - bits)) >> (8 - bits)).view(np.uint8)
    return data.view(dt).reshape(shape).copy()


def smooth(seed, dtype, shape):
    """Values that compress."""
    n = int(np.prod(shape, dtype=np.int64))
    return ((np.arange(n) // 7) % 50 + seed % 13).astype(DTYPES[dtype]).reshape(shape)


# The trees ---------------------------------------------------------------------

def dtypes_host():
    return {name: {"v": values(1, name, (5, 3)), "one": values(2, name, ()),
                   "long": values(3, name, (700,))} for name in DTYPES}


def dtypes_mesh():
    """JAX does no arithmetic on them, so every type can be laid over devices."""
    return {name: {"rows": Mesh(values(4, name, (16, 3)), (8,), ("x",), ("x",)),
                   "all": Mesh(values(5, name, (3, 5)), (8,), ("x",), ()),
                   "zero_d": Mesh(values(6, name, ()), (8,), ("x",), ())}
            for name in DTYPES}


def meshes():
    def at(seed, shape, spec, mesh=(4, 2), axes=("x", "y"), dtype="float32"):
        return Mesh(values(seed, dtype, shape), mesh, axes, spec)
    return {
        "rows": at(1, (16, 6), ("x",)),
        "cols": at(2, (6, 16), (None, "y"), dtype="bfloat16"),
        "blocks": at(3, (8, 8, 3), ("x", "y"), dtype="int16"),
        "swapped": at(4, (8, 8), ("y", "x"), dtype="float64"),
        "both": at(5, (16, 3), (("x", "y"),), dtype="complex64"),
        "both_turned": at(6, (3, 16), (None, ("y", "x")), dtype="uint16"),
        "replicated": at(7, (7, 9), ()),
        "replicated_even": at(8, (16, 4), (), dtype="int64"),
        "no_axis": at(9, (5, 4), (None, None), dtype="int8"),
        "long_spec": at(10, (4, 4, 4), (None, "x", None), dtype="float16"),
        "flat": at(11, (24,), ("d",), (8,), ("d",), "uint32"),
        "cube": at(12, (4, 4, 4), ("a", "b", "c"), (2, 2, 2), ("a", "b", "c")),
        "partly": at(13, (8, 2), ("b",), (2, 2, 2), ("a", "b", "c"), "int32"),
        "zero_d": at(14, (), (), dtype="float32"),
        "large": Mesh(smooth(15, "float32", (64, 48)), (4, 2), ("x", "y"), ("x", None)),
        "noise": at(16, (128, 40), ("x", "y"), dtype="uint8"),
    }


def state():
    """What a training job keeps; host arrays, scalars and text beside meshes."""
    return {
        "params": {
            "dense": {"w": Mesh(values(1, "float32", (32, 16)), (8,), ("d",), ("d",)),
                      "b": Mesh(values(2, "float32", (16,)), (8,), ("d",), ())},
            "layers": [{"w": values(10 + i, "bfloat16", (6, 4))} for i in range(3)],
        },
        "opt": (values(20, "float32", (6, 4)), {"count": 17}, ()),
        "moments": Moments(values(30, "float32", (3, 2)),
                           Mesh(values(31, "float32", (8, 2)), (8,), ("d",), ("d",)), 4),
        "step": 1200, "lr": 3e-4, "best": float("inf"), "loss": float("nan"), "done": True,
        "key": values(21, "uint32", (2,)),
        "name": "corpus é.txt", "empty_name": "", "none": None, "d": {}, "l": [],
        "0-d": np.array(2.5), "mask": values(22, "bool", (33,)),
        "deep": {"a": {"b": {"c": [[values(23, "int8", (2,))], None]}}},
    }


def host():
    """No meshes: shapes, odd keys, integer keys, text."""
    shapes = [(1,), (1, 1, 1), (2, 1, 3), (2, 3, 2, 1, 2), (1, 2, 1, 2, 1, 2, 1, 2), (1023,),
              (1025,), (97, 31)]
    keys = ["a.b", "a/b", "sp ace", "q'uote", 'd"quote', "both'\"", "back\\slash", "new\nline",
            "tab\t", "\x01\x7f", "é", "日本", "\U0001f600", "\u200b", "\xad", "0", "-1", "~", "%41",
            "..", ".", "zarr.json", ".zarray", "c", "None", "[0]", "x" * 200]
    return {
        "shapes": [values(i, "float64", s) for i, s in enumerate(shapes)],
        "noise": values(40, "uint8", (70000,)),
        "compressible": smooth(41, "int32", (50, 60)),
        "keys": {k: values(50 + i, "int16", (2, 2)) for i, k in enumerate(keys)},
        "numbers": {3: values(90, "int8", (3,)), -1: values(91, "int8", (3,)), 10: 5},
        "fill": {"zeros": np.zeros((4, 4), np.float32), "ones": np.ones(9, np.int8)},
        "texts": {"plain": "x", "uni": "é日本\U0001f600", "ctl": "a\nb\t\x01\x7f\"\\",
                  "long": "0123456789" * 300},
        "numbers_at_ends": [2**63 - 1, -2**63, 2**64 - 1, 0.1, -0.0, 5e-324, False],
    }


def scalars():
    """Numbers of numpy, which v1 does not save."""
    return {name: values(7, name, ())[()] for name in DTYPES
            if issubclass(DTYPES[name].type, np.number) and "complex" not in name}


def complex_scalars():
    """v0's Standard does not restore its own."""
    return {name: values(8, name, ())[()] for name in ("complex64", "complex128")}


def empty_shapes():
    """Arrays without elements, which Orbax refuses to save and restores."""
    return {"a": values(1, "float32", (0,)), "b": values(1, "int8", (3, 0, 2)),
            "c": values(1, "bfloat16", (0, 0)), "d": values(1, "int64", (2,))}


def single():
    return values(1, "float32", (5, 7))


def small():
    return {"w": values(1, "float32", (8, 8)), "n": 3, "s": "text"}


TREES = {f.__name__: functools.lru_cache(None)(f)
         for f in (dtypes_host, dtypes_mesh, meshes, state, host, scalars,
                                                complex_scalars, empty_shapes, single, small)}


def tree(name):
    """Do not change what this gives: it is kept."""
    return TREES[name]()


# Walking -----------------------------------------------------------------------

def flatten(node, path=()):
    """(path, leaf) in the order of JAX; path: (type, key) as oracle_state.h
    spells them."""
    if isinstance(node, dict) and node:
        for key in sorted(node):
            yield from flatten(node[key], path + (("int" if isinstance(key, int) else "dict", key),))
    elif hasattr(node, "_fields"):
        for key in node._fields:
            yield from flatten(getattr(node, key), path + (("attr", key),))
    elif isinstance(node, (list, tuple)) and node:
        for i, child in enumerate(node):
            yield from flatten(child, path + (("seq", i),))
    else:
        yield path, node


def name_of(path):
    return ".".join(str(key) for _, key in path)


def kind_of(leaf):
    if isinstance(leaf, (np.ndarray, Mesh)):
        return "array"
    if isinstance(leaf, (bool, int, float, complex, np.generic)):
        return "scalar"
    return {str: "string", type(None): "none", dict: "dict", list: "list",
            tuple: "tuple", type(...): "placeholder"}[type(leaf)]


def array_of(leaf):
    """The array or scalar as it is stored."""
    if isinstance(leaf, Mesh):
        return leaf.value
    if isinstance(leaf, int) and not isinstance(leaf, bool):
        return np.array(leaf, np.int64 if leaf < 2**63 else np.uint64)
    return np.asarray(leaf)


# Comparing ---------------------------------------------------------------------

def canon(node, forms=True):
    """{path: what is there}, alike for what was saved and what came back: keys
    as text, tuples as lists, bits of arrays. forms: a jax.Array is not an
    np.ndarray."""
    out = {}
    for path, leaf in flatten(node):
        kind = kind_of(leaf) if not hasattr(leaf, "addressable_shards") else "jax"
        where = tuple(str(key) for _, key in path)
        if kind == "scalar":
            out[where] = _scalar(leaf)
        elif kind in ("array", "jax"):
            a = array_of(leaf) if kind == "array" else np.asarray(leaf)
            form = "jax.Array" if kind == "jax" or isinstance(leaf, Mesh) else "np.ndarray"
            out[where] = (form if forms else "array", a.dtype.name, a.shape, raw(a))
        else:
            out[where] = (kind, leaf)
    return out


def _scalar(leaf):
    """Widths of scalars are lost: Orbax gives int, float or bool."""
    if isinstance(leaf, np.generic):
        leaf = leaf.item()
    return ("scalar", type(leaf).__name__, repr(leaf))


def differences(got, want):
    """For the message of an assertion: nothing if they are equal."""
    out = [f"{k}: missing" for k in want.keys() - got.keys()]
    out += [f"{k}: not asked for" for k in got.keys() - want.keys()]
    out += [f"{k}: {str(got[k])[:90]}, want {str(want[k])[:90]}"
            for k in got.keys() & want.keys() if got[k] != want[k]]
    return sorted(out)[:8] + ([f"... {len(out)} in all"] if len(out) > 8 else [])
