/* Fill values, in all forms of the two formats. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "array/zarr.h"
#include "base/base.h"
#include "docs.h"

static void fill_is(int version, const char *dtype, const char *fill,
                    const char *bytes, size_t n) {
  char type[40];
  cairn_zarr_t *z;
  cairn_error_t err = {0};
  snprintf(type, sizeof type, "\"%s\"", dtype);
  const char *text = doc_with2(version, version == 2 ? "dtype" : "data_type",
                               type, "fill_value", fill);
  cr_assert_eq(cairn_zarr_parse(version, cairn_bytes_str(text), &z, &err),
               CAIRN_OK, "%s %s: %s", dtype, fill, err.message);
  cr_expect_arr_eq(z->fill, bytes, n, "%s %s: %02x%02x", dtype, fill,
                   z->fill[0], z->fill[1]);
  cairn_zarr_unref(z);
}

/* A2.4; bits by the types' definitions and A1.3. */
Test(fill, zarr2_values_of_all_forms) {
  fill_is(2, "<i4", "null", "\0\0\0\0", 4);
  fill_is(2, "<i4", "-2", "\xfe\xff\xff\xff", 4);
  fill_is(2, ">i4", "1", "\1\0\0\0", 4); /* native in memory */
  fill_is(2, "<u8", "18446744073709551615", "\xff\xff\xff\xff\xff\xff\xff\xff",
          8);
  fill_is(2, "|b1", "true", "\1", 1);
  fill_is(2, "int4", "-2", "\xfe", 1);
  fill_is(2, "int4", "127", "\xff", 1); /* cut to the low bits: -1 */
  fill_is(2, "<f4", "1", "\0\0\x80\x3f", 4);
  fill_is(2, "<f4", "\"0.5\"", "\0\0\0\x3f", 4);
  fill_is(2, "<f4", "\"NaN\"", "\0\0\xc0\x7f", 4);
  fill_is(2, "<f8", "\"-Infinity\"", "\0\0\0\0\0\0\xf0\xff", 8);
  fill_is(2, "<f8", "-0.0", "\0\0\0\0\0\0\0\x80", 8);
  fill_is(2, "bfloat16", "3.14159274", "\x49\x40", 2);
  fill_is(2, "<f2", "65504", "\xff\x7b", 2);
  fill_is(2, "<c8", "[1,\"NaN\"]", "\0\0\x80\x3f\0\0\xc0\x7f", 8);
  fill_is(2, "<c8", "\"AACAPwAAAEA=\"", "\0\0\x80\x3f\0\0\0\x40", 8);
  fill_is(2, ">c8", "\"P4AAAEAAAAA=\"", "\0\0\x80\x3f\0\0\0\x40", 8);
  fill_is(2, "float4_e2m1fn", "\"Bw==\"", "\7", 1);
}

Test(fill, small_floats_have_these_bits) {
  static const struct {
    const char *dtype, *fill;
    uint8_t bits;
  } cases[] = {
      {"float8_e4m3fn", "1.0", 0x38},
      {"float8_e4m3fn", "-0.5", 0xb0},
      {"float8_e4m3fn", "448", 0x7e},
      {"float8_e4m3fn", "\"NaN\"", 0x7f},
      {"float8_e5m2", "1.0", 0x3c},
      {"float8_e5m2", "57344", 0x7b},
      {"float8_e5m2", "-0.5", 0xb8},
      {"float8_e5m2", "\"NaN\"", 0x7e},
      {"float8_e5m2", "\"Infinity\"", 0x7c},
      {"float8_e4m3fnuz", "1.0", 0x40},
      {"float8_e4m3fnuz", "-0.0", 0x00},
      {"float8_e4m3fnuz", "\"NaN\"", 0x80},
      {"float8_e4m3b11fnuz", "\"NaN\"", 0x80},
      {"float8_e5m2fnuz", "\"NaN\"", 0x80},
      {"float8_e3m4", "1.0", 0x30},
      {"float8_e3m4", "\"NaN\"", 0x78},
      {"float8_e8m0fnu", "1.0", 0x7f},
      {"float8_e8m0fnu", "0.0", 0x00},
      {"float8_e8m0fnu", "\"NaN\"", 0xff},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    fill_is(3, cases[i].dtype, cases[i].fill, (const char *)&cases[i].bits, 1);
}

/* A3.4 */
Test(fill, zarr3_values_of_all_forms) {
  fill_is(3, "int4", "-8", "\xf8", 1);
  fill_is(3, "int2", "1", "\1", 1);
  fill_is(3, "uint64", "18446744073709551615",
          "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
  fill_is(3, "float32", "\"0x7fc00001\"", "\1\0\xc0\x7f", 4);
  fill_is(3, "float32", "\"0x1\"", "\1\0\0\0", 4);
  fill_is(3, "float64", "0.1", "\x9a\x99\x99\x99\x99\x99\xb9\x3f", 8);
  fill_is(3, "float16", "\"0x7E00\"", "\0\x7e", 2);
  fill_is(3, "complex64", "[\"Infinity\",\"0x3f800000\"]",
          "\0\0\x80\x7f\0\0\x80\x3f", 8);
  fill_is(3, "float64", "123456789012345678901234567890",
          "\x3e\x37\x6c\xff\x90\xee\xf8\x45", 8);
}

/* By TensorStore: tests/golden/array/make.py. */
Test(fill, conversions_are_those_of_tensorstore) {
  FILE *f = fopen(CAIRN_GOLDEN "/array/fills.txt", "r");
  char dtype[32], value[64], hex[40];
  int n = 0;
  cr_assert_not_null(f);
  while (fscanf(f, "%31s %63s %39s", dtype, value, hex) == 3) {
    uint8_t bytes[16];
    cr_assert(cairn__unhex(cairn_bytes_str(hex), bytes));
    fill_is(3, dtype, value, (const char *)bytes, strlen(hex) / 2);
    n++;
  }
  fclose(f);
  cr_expect_gt(n, 900);
}
