/* Element types by name and size; numbers from arrays.md A1.3. */
#include <criterion/criterion.h>

#include "cairn/types.h"

Test(dtype, known_types_have_name_and_size) {
  static const struct {
    cairn_dtype_t t;
    const char *name;
    size_t size;
  } want[] = {
      {CAIRN_BOOL, "bool", 1},           {CAIRN_I4, "int4", 1},
      {CAIRN_I64, "int64", 8},           {CAIRN_U16, "uint16", 2},
      {CAIRN_BF16, "bfloat16", 2},       {CAIRN_F32, "float32", 4},
      {CAIRN_F8_E5M2, "float8_e5m2", 1}, {CAIRN_C128, "complex128", 16}};
  for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
    cr_expect_str_eq(cairn_dtype_name(want[i].t), want[i].name);
    cr_expect_eq(cairn_dtype_size(want[i].t), want[i].size);
  }
}

Test(dtype, every_name_leads_back_to_its_type) {
  for (int t = CAIRN_DTYPE_NONE + 1; t < CAIRN_DTYPE_COUNT; t++) {
    const char *name = cairn_dtype_name((cairn_dtype_t)t);
    cr_expect_eq(cairn_dtype_from_name(cairn_bytes_str(name)), (cairn_dtype_t)t,
                 "%s", name);
    cr_expect_gt(cairn_dtype_size((cairn_dtype_t)t), 0u);
  }
}

Test(dtype, what_is_no_type_has_size_0) {
  static const int none[] = {CAIRN_DTYPE_NONE, CAIRN_DTYPE_COUNT, -1, 1000};
  for (size_t i = 0; i < 4; i++) {
    cr_expect_eq(cairn_dtype_size((cairn_dtype_t)none[i]), 0u);
    cr_expect_str_eq(cairn_dtype_name((cairn_dtype_t)none[i]), "none");
  }
  static const char *const names[] = {"", "none", "float", "float320", "int"};
  for (size_t i = 0; i < 5; i++)
    cr_expect_eq(cairn_dtype_from_name(cairn_bytes_str(names[i])),
                 CAIRN_DTYPE_NONE, "%s", names[i]);
}
