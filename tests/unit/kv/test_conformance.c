/* What every store does alike (reference stores.md 2.1 to 2.3, 18). */
#include <stdio.h>
#include <stdlib.h>

#include "stores.h"

static cairn_bytes_t key(const char *s) {
  return cairn_bytes_str(s);
}

/* --- values --- */

STORE_TEST(a_value_comes_back) {
  put(s, "a", "hello");
  expect_value(s, "a", "hello");
  put(s, "a", "x");
  expect_value(s, "a", "x");
  put(s, "deep/er/b", "y");
  expect_value(s, "deep/er/b", "y");
}

STORE_TEST(a_missing_key_is_not_an_error) {
  cairn_value_t v = {0};
  cairn_error_t err = {0};
  must(kv_call_read(s->kv, key("nothing/here"), CAIRN_WHOLE, &v, &err), &err);
  cr_assert(!v.found);
  cr_assert_eq(v.data.n, 0);
  put(s, "a", "1");
  must(kv_call_read(s->kv, key("a/b"), CAIRN_WHOLE, &v, &err), &err);
  cr_assert(!v.found);
}

STORE_TEST(an_empty_value_is_found) {
  cairn_value_t v = {0};
  cairn_error_t err = {0};
  must(kv_call_write(s->kv, key("e"), NULL, 0, NULL, NULL, &err), &err);
  must(kv_call_read(s->kv, key("e"), CAIRN_WHOLE, &v, &err), &err);
  cr_assert(v.found);
  cr_assert_eq(v.total_size, 0);
  cr_assert_eq(v.data.n, 0);
  cairn_value_reset(&v);
}

STORE_TEST(pieces_are_joined_in_order) {
  cairn_error_t err = {0};
  struct iovec iov[2500];
  char want[2501] = {0};
  for (int i = 0; i < 2500; i++) { /* more than IOV_MAX, some of them empty */
    want[i] = (char)('a' + i % 26);
    iov[i] = (struct iovec){&want[i], 1};
  }
  iov[7].iov_len = iov[1024].iov_len = 0;
  must(kv_call_write(s->kv, key("long"), iov, 2500, NULL, NULL, &err), &err);
  memmove(want + 1024, want + 1025, 2500 - 1024);
  memmove(want + 7, want + 8, 2499 - 7);
  expect_value(s, "long", want);
}

STORE_TEST(a_large_value_comes_back) {
  size_t n = (5 << 20) + 3;
  uint8_t *data = malloc(n), *back = calloc(1, n);
  cairn_error_t err = {0};
  cairn_value_t v = {0};
  for (size_t i = 0; i < n; i++) data[i] = (uint8_t)(i * 2654435761u >> 13);
  struct iovec iov = {data, n};
  must(kv_call_write(s->kv, key("big"), &iov, 1, NULL, NULL, &err), &err);
  cairn_read_opts_t o = {.dst = back, .cap = n};
  must(kv_call_read(s->kv, key("big"), &o, &v, &err), &err);
  cr_assert_eq(v.data.p, back);
  cr_assert_eq(v.data.n, n);
  cr_assert_eq(memcmp(data, back, n), 0);
  cairn_value_reset(&v);
  free(data);
  free(back);
}

/* --- ranges: of "0123456789" --- */

struct range {
  int64_t min, max;
  const char *want; /* NULL: CAIRN_INVALID */
};

STORE_TEST(ranges_are_exact_and_nothing_is_clamped) {
  static const struct range ranges[] = {
      {0, -1, "0123456789"},
      {0, 10, "0123456789"},
      {3, 5, "34"},
      {9, 10, "9"},
      {10, 10, ""},
      {10, -1, ""},
      {0, 0, ""},
      {-1, -1, "9"},
      {-10, -1, "0123456789"},
      {5, 3, NULL},
      {0, 11, NULL},
      {11, 11, NULL},
      {11, -1, NULL},
      {-11, -1, NULL},
      {-1, 4, NULL},
      {0, -2, NULL},
      {INT64_MIN, -1, NULL},
      {0, INT64_MAX, NULL},
      {INT64_MAX, -1, NULL},
  };
  put(s, "r", "0123456789");
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
    const struct range *r = &ranges[i];
    cairn_read_opts_t o = {
        .what = CAIRN_READ_RANGE, .min = r->min, .max = r->max};
    cairn_value_t v = {0};
    cairn_code_t rc = kv_call_read(s->kv, key("r"), &o, &v, NULL);
    cr_assert_eq(rc, r->want != NULL ? CAIRN_OK : CAIRN_INVALID, "[%lld, %lld)",
                 (long long)r->min, (long long)r->max);
    if (r->want != NULL) {
      cr_assert(v.found);
      cr_assert_eq(v.total_size, 10);
      cr_assert_eq(v.data.n, strlen(r->want));
      cr_assert(v.data.n == 0 || memcmp(v.data.p, r->want, v.data.n) == 0);
    }
    cairn_value_reset(&v);
  }
}

STORE_TEST(a_range_of_a_missing_key_is_missing) {
  cairn_read_opts_t o = {.what = CAIRN_READ_RANGE, .min = 5, .max = 9};
  cairn_value_t v = {0};
  cairn_error_t err = {0};
  must(kv_call_read(s->kv, key("r"), &o, &v, &err), &err);
  cr_assert(!v.found);
}

STORE_TEST(a_destination_gets_the_bytes_or_is_refused) {
  char dst[4] = "....";
  cairn_read_opts_t o = {
      .what = CAIRN_READ_RANGE, .min = 2, .max = 5, .dst = dst, .cap = 3};
  cairn_value_t v = {0};
  cairn_error_t err = {0};
  put(s, "r", "0123456789");
  must(kv_call_read(s->kv, key("r"), &o, &v, &err), &err);
  cr_assert_eq(v.data.p, (const uint8_t *)dst);
  cr_assert_eq(memcmp(dst, "234.", 4), 0);
  o.max = 6;
  cr_assert_eq(kv_call_read(s->kv, key("r"), &o, &v, &err), CAIRN_INVALID);
  cr_assert(!v.found);
}

STORE_TEST(stat_tells_size_and_generation_without_bytes) {
  cairn_read_opts_t o = {.what = CAIRN_READ_STAT};
  cairn_value_t v = {0}, whole = {0};
  cairn_error_t err = {0};
  put(s, "a", "12345");
  must(kv_call_read(s->kv, key("a"), &o, &v, &err), &err);
  cr_assert(v.found);
  cr_assert_eq(v.total_size, 5);
  cr_assert_eq(v.data.n, 0);
  must(kv_call_read(s->kv, key("a"), CAIRN_WHOLE, &whole, &err), &err);
  cr_assert_eq(v.gen.n, whole.gen.n);
  cr_assert_eq(memcmp(v.gen.b, whole.gen.b, v.gen.n), 0);
  cairn_value_reset(&whole);
  cairn_value_reset(&v);
  must(kv_call_read(s->kv, key("b"), &o, &v, &err), &err);
  cr_assert(!v.found);
}

STORE_TEST(a_value_that_was_read_stays_when_the_key_is_rewritten) {
  cairn_value_t v = {0};
  cairn_error_t err = {0};
  put(s, "a", "before");
  must(kv_call_read(s->kv, key("a"), CAIRN_WHOLE, &v, &err), &err);
  put(s, "a", "after!");
  cr_assert_eq(v.data.n, 6);
  cr_assert_eq(memcmp(v.data.p, "before", 6), 0);
  cairn_value_reset(&v);
}

/* --- conditions --- */

static bool write_if(struct store *s, const char *k, const char *text,
                     const cairn_gen_t *gen, cairn_gen_t *now) {
  cairn_write_opts_t o = {.if_equal = gen};
  cairn_written_t w = {0};
  cairn_error_t err = {0};
  struct iovec iov = {(void *)text, strlen(text)};
  must(kv_call_write(s->kv, key(k), &iov, 1, &o, &w, &err), &err);
  if (now != NULL && w.condition_met) *now = w.gen;
  return w.condition_met;
}

STORE_TEST(create_only_writes_once) {
  cr_assert(write_if(s, "c", "first", &CAIRN_GEN_ABSENT, NULL));
  cr_assert(!write_if(s, "c", "second", &CAIRN_GEN_ABSENT, NULL));
  expect_value(s, "c", "first");
}

STORE_TEST(a_write_on_a_generation_needs_that_generation) {
  cairn_gen_t g1 = {0}, g2 = {0}, unknown = {0};
  cr_assert(write_if(s, "c", "one", NULL, &g1));
  cr_assert(write_if(s, "c", "two", &g1, &g2));
  cr_assert(!write_if(s, "c", "three", &g1, NULL), "g1 is gone");
  expect_value(s, "c", "two");
  cr_assert(!write_if(s, "other", "x", &g2, NULL), "nothing is there");
  expect_value(s, "other", "(missing)");
  cr_assert(write_if(s, "c", "four", &unknown, NULL), "no condition");
  cr_assert(!write_if(s, "c", "five", &g2, NULL));
  expect_value(s, "c", "four");
}

STORE_TEST(the_generation_written_is_the_one_that_is_read) {
  cairn_gen_t g = {0};
  cairn_value_t v = {0};
  cairn_error_t err = {0};
  cr_assert(write_if(s, "c", "one", &CAIRN_GEN_ABSENT, &g));
  must(kv_call_read(s->kv, key("c"), CAIRN_WHOLE, &v, &err), &err);
  cr_assert_eq(g.n, v.gen.n);
  cr_assert_eq(memcmp(g.b, v.gen.b, g.n), 0);
  cairn_value_reset(&v);
  cr_assert(write_if(s, "c", "two", &g, &g));
  must(kv_call_read(s->kv, key("c"), CAIRN_WHOLE, &v, &err), &err);
  cr_assert_eq(memcmp(g.b, v.gen.b, g.n), 0);
  cairn_value_reset(&v);
}

STORE_TEST(equal_content_written_again_has_a_new_generation) {
  cairn_gen_t g1 = {0}, g2 = {0};
  write_if(s, "c", "same", NULL, &g1);
  write_if(s, "c", "same", NULL, &g2);
  cr_assert(g1.n != g2.n || memcmp(g1.b, g2.b, g1.n) != 0);
}

STORE_TEST(remove_looks_at_its_condition) {
  cairn_gen_t g = {0};
  cairn_written_t w = {0};
  cairn_error_t err = {0};
  cairn_write_opts_t o = {.if_equal = &g};
  write_if(s, "c", "one", NULL, &g);
  put(s, "c", "two");
  must(kv_call_remove(s->kv, key("c"), &o, &w, &err), &err);
  cr_assert(!w.condition_met);
  expect_value(s, "c", "two");
  write_if(s, "c", "three", NULL, &g);
  must(kv_call_remove(s->kv, key("c"), &o, &w, &err), &err);
  cr_assert(w.condition_met);
  expect_value(s, "c", "(missing)");
}

STORE_TEST(removing_nothing_is_fine) {
  cairn_written_t w = {0};
  cairn_error_t err = {0};
  must(kv_call_remove(s->kv, key("no/such"), NULL, &w, &err), &err);
  cr_assert(w.condition_met);
  put(s, "a", "1");
  must(kv_call_remove(s->kv, key("a"), NULL, &w, &err), &err);
  must(kv_call_remove(s->kv, key("a"), NULL, NULL, &err), &err);
  expect_list(s, "", "");
}

/* --- listings --- */

STORE_TEST(keys_are_listed_in_byte_order_with_sizes) {
  put(s, "a/b", "1");
  put(s, "a.b", "22");
  put(s, "a0", "333");
  put(s, "a/b0", "");
  put(s, "a/a/z", "1");
  put(s, "\xc3\xa9", "1"); /* above all of ASCII */
  put(s, "Z", "1");
  expect_list(s, "", "Z:1 a.b:2 a/a/z:1 a/b:1 a/b0:0 a0:3 \xc3\xa9:1");
}

STORE_TEST(a_prefix_need_not_end_at_a_slash) {
  put(s, "ab/c", "1");
  put(s, "ab/d/e", "1");
  put(s, "abc", "1");
  put(s, "b", "1");
  expect_list(s, "ab", "ab/c:1 ab/d/e:1 abc:1");
  expect_list(s, "ab/", "ab/c:1 ab/d/e:1");
  expect_list(s, "ab/d", "ab/d/e:1");
  expect_list(s, "ab/x", "");
  expect_list(s, "x/y/z", "");
  expect_list(s, "b/", "");
}

STORE_TEST(a_listing_may_be_ended_early) {
  cairn_error_t err = {0};
  put(s, "a", "1");
  put(s, "b", "1");
  put(s, "c", "1");
  char *got = kv_call_list(s->kv, "", 2, &err);
  cr_assert_str_eq(got, "a:1 b:1");
  free(got);
}

STORE_TEST(list_dir_shows_one_level) {
  cairn_error_t err = {0};
  put(s, "x/a", "1");
  put(s, "x/b/c", "1");
  put(s, "x/b/d/e", "1");
  put(s, "x/b.c", "22");
  put(s, "y", "1");
  char *got = kv_call_list_dir(s->kv, "x/", &err);
  cr_assert_str_eq(got, "a:1 b.c:2 b/:-1", "%s", got);
  free(got);
  got = kv_call_list_dir(s->kv, "", &err);
  cr_assert_str_eq(got, "x/:-1 y:1", "%s", got);
  free(got);
  got = kv_call_list_dir(s->kv, "x/b", &err);
  cr_assert_str_eq(got, ".c:2 /:-1", "%s", got);
  free(got);
  got = kv_call_list_dir(s->kv, "nothing/", &err);
  cr_assert_str_eq(got, "");
  free(got);
}

/* More than one batch of the file store's walk. */
STORE_TEST(a_long_listing_is_complete) {
  enum { N = 3000 };
  cairn_error_t err = {0};
  cairn_write_opts_t o = {.defer_sync = true};
  char name[32];
  for (int i = 0; i < N; i++) {
    snprintf(name, sizeof name, "d%d/%04d", i % 7, i);
    must(kv_call_write(s->kv, key(name), NULL, 0, &o, NULL, &err), &err);
  }
  char *got = kv_call_list(s->kv, "", 0, &err);
  int words = 0;
  const char *last = "";
  for (char *save, *w = strtok_r(got, " ", &save); w != NULL;
       w = strtok_r(NULL, " ", &save)) {
    cr_assert_lt(strcmp(last, w), 0, "%s before %s", last, w);
    last = w;
    words++;
  }
  cr_assert_eq(words, N);
  free(got);
}

/* --- prefixes --- */

STORE_TEST(remove_prefix_takes_all_below_and_nothing_else) {
  cairn_error_t err = {0};
  put(s, "a/x", "1");
  put(s, "a/y/z", "1");
  put(s, "ab", "1");
  put(s, "b", "1");
  must(kv_call_remove_prefix(s->kv, "a/", &err), &err);
  expect_list(s, "", "ab:1 b:1");
  must(kv_call_remove_prefix(s->kv, "b/", &err), &err);
  must(kv_call_remove_prefix(s->kv, "not/here/", &err), &err);
  expect_list(s, "", "ab:1 b:1");
  must(kv_call_remove_prefix(s->kv, "a", &err), &err);
  expect_list(s, "", "b:1");
  must(kv_call_remove_prefix(s->kv, "", &err), &err);
  expect_list(s, "", "");
  put(s, "again", "1");
  expect_list(s, "", "again:1");
}

STORE_TEST(rename_prefix_moves_all_below) {
  cairn_error_t err = {0};
  if (!(cairn_kv_caps(s->kv) & CAIRN_KV_RENAME_PREFIX)) {
    put(s, "t/a", "1");
    cr_assert_eq(kv_call_rename(s->kv, "t/", "u/", &err), CAIRN_UNSUPPORTED);
    return;
  }
  put(s, "7.tmp/a", "1");
  put(s, "7.tmp/b/c", "2");
  must(kv_call_rename(s->kv, "7.tmp/", "7/", &err), &err);
  expect_list(s, "", "7/a:1 7/b/c:1");
  must(kv_call_rename(s->kv, "7/", "far/away/8/", &err), &err);
  expect_list(s, "", "far/away/8/a:1 far/away/8/b/c:1");
  expect_value(s, "far/away/8/b/c", "2");
}

STORE_TEST(rename_prefix_says_exists_and_not_found) {
  cairn_error_t e1 = {0}, e2 = {0};
  if (s->kind == BARE) return;
  put(s, "a/x", "1");
  put(s, "b/y", "1");
  cr_assert_eq(kv_call_rename(s->kv, "a/", "b/", &e1), CAIRN_EXISTS, "%s",
               e1.message);
  cr_assert_eq(kv_call_rename(s->kv, "none/", "c/", &e2), CAIRN_NOT_FOUND);
  cr_assert_eq(kv_call_rename(s->kv, "a", "c", NULL), CAIRN_INVALID);
  cr_assert_eq(kv_call_rename(s->kv, "a/", "a/b/", NULL), CAIRN_INVALID);
  expect_list(s, "", "a/x:1 b/y:1");
}

/* --- uploads --- */

STORE_TEST(an_upload_is_invisible_until_commit) {
  cairn_upload_t *u;
  cairn_error_t err = {0};
  must(kv_call_upload(s->kv, "big/one", NULL, &u, &err), &err);
  must(kv_call_part(s->kv, u, 6, "world", &err), &err);
  must(kv_call_part(s->kv, u, 0, "hello ", &err), &err);
  expect_value(s, "big/one", "(missing)");
  expect_list(s, "", "");
  must(kv_call_commit(s->kv, u, &err), &err);
  expect_value(s, "big/one", "hello world");
  expect_list(s, "", "big/one:11");
}

STORE_TEST(an_aborted_upload_leaves_nothing) {
  cairn_upload_t *u;
  cairn_error_t err = {0};
  put(s, "u", "old");
  must(kv_call_upload(s->kv, "u", NULL, &u, &err), &err);
  must(kv_call_part(s->kv, u, 0, "new", &err), &err);
  must(kv_call_abort(s->kv, u, &err), &err);
  expect_value(s, "u", "old");
  expect_list(s, "", "u:3");
}

STORE_TEST(an_upload_without_parts_is_an_empty_value) {
  cairn_upload_t *u;
  cairn_error_t err = {0};
  must(kv_call_upload(s->kv, "u", NULL, &u, &err), &err);
  must(kv_call_commit(s->kv, u, &err), &err);
  expect_value(s, "u", "");
}

STORE_TEST(an_upload_with_a_hole_is_refused) {
  cairn_upload_t *u;
  cairn_error_t err = {0};
  must(kv_call_upload(s->kv, "u", NULL, &u, &err), &err);
  must(kv_call_part(s->kv, u, 0, "abc", &err), &err);
  must(kv_call_part(s->kv, u, 4, "efg", &err), &err);
  cr_assert_eq(kv_call_commit(s->kv, u, &err), CAIRN_INVALID);
  expect_value(s, "u", "(missing)");
  expect_list(s, "", "");
}

STORE_TEST(an_upload_may_be_create_only) {
  cairn_upload_t *u;
  cairn_error_t err = {0};
  cairn_write_opts_t o = {.if_equal = &CAIRN_GEN_ABSENT};
  must(kv_call_upload(s->kv, "u", &o, &u, &err), &err);
  put(s, "u", "first");
  cr_assert_eq(kv_call_commit(s->kv, u, &err), CAIRN_EXISTS);
  expect_value(s, "u", "first");
  expect_list(s, "", "u:5");
}

/* --- the rest --- */

STORE_TEST(deferred_writes_are_there_before_and_after_sync) {
  cairn_error_t err = {0};
  cairn_write_opts_t o = {.defer_sync = true};
  cairn_upload_t *u;
  struct iovec iov = {(void *)"1", 1};
  must(kv_call_write(s->kv, key("t/a/b"), &iov, 1, &o, NULL, &err), &err);
  must(kv_call_write(s->kv, key("t/c"), &iov, 1, &o, NULL, &err), &err);
  must(kv_call_upload(s->kv, "t/d/u", &o, &u, &err), &err);
  must(kv_call_part(s->kv, u, 0, "22", &err), &err);
  must(kv_call_commit(s->kv, u, &err), &err);
  must(kv_call_remove(s->kv, key("t/c"), &o, NULL, &err), &err);
  expect_list(s, "", "t/a/b:1 t/d/u:2");
  must(kv_call_sync(s->kv, "t/", &err), &err);
  must(kv_call_sync(s->kv, "t/", &err), &err);
  must(kv_call_sync(s->kv, "nothing/", &err), &err);
  expect_list(s, "", "t/a/b:1 t/d/u:2");
}

STORE_TEST(errors_name_verb_and_key) {
  cairn_error_t err = {0};
  cairn_read_opts_t o = {.what = CAIRN_READ_RANGE, .min = 0, .max = 5};
  cairn_value_t v = {0};
  char name[256];
  put(s, "some/key", "1");
  cr_assert_eq(kv_call_read(s->kv, key("some/key"), &o, &v, &err),
               CAIRN_INVALID);
  cr_assert_eq(strncmp(err.message, "read ", 5), 0, "%s", err.message);
  cairn_kv_describe(s->kv, key("some/key"), name, sizeof name);
  cr_assert_eq(strncmp(err.message + 5, name, strlen(name)), 0, "%s",
               err.message);
  cr_assert_not_null(strstr(name, "some/key"));
}

STORE_TEST(a_failed_open_view_or_close_leaves_no_hold_on_the_runtime) {
  cairn_kv_t *view = kv_call_prefix(s->kv, "more/"), *kv = NULL;
  cairn_error_t err = {0};
  put(s, "more/a", "1");
  char *got = kv_call_get(view, "a");
  cr_assert_str_eq(got, "1");
  free(got);
  must(kv_call_close(view, &err), &err);
  cr_assert_eq(kv_call_open(s->rt, "nonsense://x", &kv, &err), CAIRN_INVALID);
  cr_assert_null(kv);
}
