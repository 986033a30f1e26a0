/* The stores that the conformance tests run over: memory and files, a view of
 * each, and a driver that has the required members only. */
#ifndef TESTS_UNIT_KV_STORES_H_
#define TESTS_UNIT_KV_STORES_H_

#include <criterion/criterion.h>

#include "support/kv_call.h"

enum store_kind { MEMORY, FILES, MEMORY_VIEW, FILES_VIEW, BARE };

struct store {
  enum store_kind kind;
  cairn_runtime_t *rt;
  cairn_kv_t *kv;   /* what is tested */
  cairn_kv_t *base; /* what kv is a view of, or NULL */
  char dir[64];     /* of files: where they are */
};

/* Opens a runtime and a store of that kind, both new; closes and removes them.
 */
void store_open(struct store *s, enum store_kind kind);
void store_close(struct store *s);
/* Another store on another runtime, with the same content. */
void store_open_again(struct store *s, const struct store *other);

/* Fails the test unless the code is CAIRN_OK. */
void must(cairn_code_t code, const cairn_error_t *err);
/* Fails the test unless the value is that text ("(missing)": no value). */
void expect_value(struct store *s, const char *key, const char *want);
/* Fails the test unless the listing is that text (kv_call_list). */
void expect_list(struct store *s, const char *prefix, const char *want);
void put(struct store *s, const char *key, const char *text);

/* Opens a store, runs the test on it, closes it. */
void store_run(enum store_kind kind, void (*test)(struct store *s));

/* A test of what all stores do alike: once for each kind. */
#define STORE_TEST(name)             \
  static void name(struct store *s); \
  Test(memory, name) {               \
    store_run(MEMORY, name);         \
  }                                  \
  Test(files, name) {                \
    store_run(FILES, name);          \
  }                                  \
  Test(memory_view, name) {          \
    store_run(MEMORY_VIEW, name);    \
  }                                  \
  Test(files_view, name) {           \
    store_run(FILES_VIEW, name);     \
  }                                  \
  Test(bare, name) {                 \
    store_run(BARE, name);           \
  }                                  \
  static void name(struct store *s)

#endif
