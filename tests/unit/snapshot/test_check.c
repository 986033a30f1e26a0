/* The debugging check: whoever writes too early is found. */
#include "held.h"

static cairn__snapshot_t *hold_checked(cairn__pool_t *pool, const region_t *r,
                                       cairn_snapshot_t mode) {
  cairn__snapshot_part_t parts[2] = {
      {.data = r->data, .n = G, .mode = mode, .name = "params.w"},
      {.data = r->data + G, .n = r->n - G, .mode = mode, .name = "params.b"}};
  cairn__snapshot_opts_t opts = {.shadow_bytes = 8 * G, .check = true};
  cairn__snapshot_t *s = NULL;
  cr_assert_eq(cairn__snapshot_begin(pool, parts, 2, &opts, &s, NULL),
               CAIRN_OK);
  return s;
}

static cairn_code_t read_all(cairn__snapshot_t *s, const region_t *r,
                             cairn_error_t *err) {
  char *out = malloc(r->n);
  cairn_code_t rc = cairn__snapshot_read(s, 0, r->data, G, out, err);
  if (rc == CAIRN_OK)
    rc = cairn__snapshot_read(s, 1, r->data + G, r->n - G, out + G, err);
  free(out);
  return rc;
}

static void expect_named(cairn_code_t rc, const cairn_error_t *err) {
  cr_expect_eq(rc, CAIRN_MISMATCH);
  cr_expect_not_null(strstr(err->message, "params.b"), "%s", err->message);
}

Test(check, an_early_write_is_found_when_read) {
  cairn__pool_t *pool = pool_new();
  region_t r = region_new(0, 3 * G, 1);
  cairn_error_t err = {0};
  cairn__snapshot_t *s = hold_checked(pool, &r, CAIRN_SNAPSHOT_LAZY);
  r.data[2 * G] ^= 1;
  expect_named(read_all(s, &r, &err), &err);
  cairn__snapshot_drop(s);
  region_free(&r);
  cairn__pool_free(pool);
}

Test(check, an_early_write_is_found_when_settled) {
  cairn__pool_t *pool = pool_new();
  region_t r = region_new(0, 3 * G, 2);
  cairn_error_t err = {0};
  cairn__snapshot_t *s = hold_checked(pool, &r, CAIRN_SNAPSHOT_LAZY);
  r.data[3 * G - 1] ^= 1;
  cr_assert_eq(cairn__snapshot_settle(s, SIZE_MAX, NULL), CAIRN_OK);
  r.data[3 * G - 1] ^= 1;
  expect_named(read_all(s, &r, &err), &err);
  cairn__snapshot_drop(s);
  region_free(&r);
  cairn__pool_free(pool);
}

Test(check, a_write_to_borrowed_memory_is_found_at_the_end) {
  cairn__pool_t *pool = pool_new();
  region_t r = region_new(77, 3 * G, 3);
  cairn_error_t err = {0};
  cairn__snapshot_t *s = hold_checked(pool, &r, CAIRN_SNAPSHOT_BORROW);
  r.data[G + 5] ^= 1;
  expect_named(cairn__snapshot_finish(s, &err), &err);
  cairn__snapshot_drop(s);
  region_free(&r);
  cairn__pool_free(pool);
}

Test(check, writes_in_time_are_fine) {
  cairn_snapshot_t modes[] = {CAIRN_SNAPSHOT_LAZY, CAIRN_SNAPSHOT_COPY};
  cairn__pool_t *pool = pool_new();
  region_t r = region_new(5, 3 * G, 4);
  for (size_t i = 0; i < 2; i++) {
    cairn_error_t err = {0};
    cairn__snapshot_t *s = hold_checked(pool, &r, modes[i]);
    cr_assert_eq(cairn__snapshot_settle(s, SIZE_MAX, NULL), CAIRN_OK);
    memset(r.data, (int)i, r.n);
    cr_expect_eq(read_all(s, &r, &err), CAIRN_OK, "%s", err.message);
    cr_expect_eq(cairn__snapshot_finish(s, &err), CAIRN_OK, "%s", err.message);
    cairn__snapshot_drop(s);
  }
  region_free(&r);
  cairn__pool_free(pool);
}
