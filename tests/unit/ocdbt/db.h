/* Databases for tests that read from top to bottom: each call of ocdbt.h, begun
 * on the loop thread and waited for on the test's. */
#ifndef CAIRN_TESTS_UNIT_OCDBT_DB_H_
#define CAIRN_TESTS_UNIT_OCDBT_DB_H_

#include "ocdbt/ocdbt.h"
#include "support/kv_call.h"

cairn_code_t db_open(cairn_kv_t *base, cairn_kv_t **out, cairn_error_t *err);
cairn_code_t db_create(cairn_kv_t *base, const cairn__ocdbt_write_opts_t *o,
                       cairn_kv_t **out, cairn_error_t *err);
cairn_code_t db_commit(cairn_kv_t *writer, cairn__ocdbt_summary_t *out,
                       cairn_error_t *err);
cairn_code_t db_merge(cairn_kv_t *base, const cairn__ocdbt_write_opts_t *o,
                      const cairn__ocdbt_child_t *children, size_t n,
                      cairn__ocdbt_summary_t *out, cairn_error_t *err);
cairn_code_t db_check(cairn_kv_t *reader, cairn_error_t *err);
cairn_code_t db_walk(cairn_kv_t *reader, cairn_bytes_t prefix,
                     cairn__ocdbt_entry_fn fn, void *arg, cairn_error_t *err);
cairn_code_t db_locate(cairn_kv_t *reader, const char *key, bool *found,
                       cairn__ocdbt_entry_t *entry, cairn_error_t *err);

/* Key and value as read; the value is for free(). */
struct pair {
  char *key, *value;
  size_t key_n, value_n;
};

/* Writes n pairs in the order given, commits, closes. Fails the test otherwise.
 * summary may be NULL. */
void db_write(cairn_kv_t *base, const cairn__ocdbt_write_opts_t *o,
              const struct pair *pairs, size_t n,
              cairn__ocdbt_summary_t *summary);
/* The same from text: "key=value key=value". */
void db_write_text(cairn_kv_t *base, const cairn__ocdbt_write_opts_t *o,
                   const char *text, cairn__ocdbt_summary_t *summary);
/* The database's content read back key by key must be exactly these (sorted)
 * pairs, in a listing, a walk and by lookups; and a check must be content. */
void db_expect(cairn_kv_t *base, const struct pair *sorted, size_t n);

/* A runtime and an empty memory store, for a test of its own process. */
struct fixture {
  cairn_runtime_t *rt;
  cairn_kv_t *base;
};
struct fixture db_fixture(void);
void db_fixture_end(struct fixture *f);
cairn_runtime_t *db_runtime(void);

/* Orbax's options without compression: bytes are the same for every libzstd. */
cairn__ocdbt_write_opts_t db_plain_opts(uint32_t max_inline, uint32_t max_node);

#endif
