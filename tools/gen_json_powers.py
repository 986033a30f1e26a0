"""Writes runtime/base/json_powers.inc: powers of ten as 64-bit floats, for the
Grisu2 of json_grisu.c. Exact arithmetic, rounded to nearest.

    python3 tools/gen_json_powers.py > runtime/base/json_powers.inc
"""

from fractions import Fraction


def power(k):
    """f and e with 10^k = f * 2^e and 2^63 <= f < 2^64."""
    value = Fraction(10) ** k
    e = 0
    while value * Fraction(2) ** -e >= 2**64:
        e += 1
    while value * Fraction(2) ** -e < 2**63:
        e -= 1
    return round(value * Fraction(2) ** -e), e


print("/* Written by tools/gen_json_powers.py. */")
print("/* clang-format off */")
for k in range(-300, 325, 8):
    f, e = power(k)
    print(f"{{0x{f:016x}, {e}, {k}}},")
