#include "unit/ocdbt/db.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "loop/loop.h"

struct call {
  enum { OPEN, CREATE, COMMIT, MERGE, CHECK, WALK, LOCATE } what;
  cairn_kv_t *kv, **out;
  const cairn__ocdbt_write_opts_t *o;
  cairn__ocdbt_summary_t *summary;
  const cairn__ocdbt_child_t *children;
  size_t n;
  cairn_bytes_t key;
  cairn__ocdbt_entry_fn fn;
  void *arg;
  bool *found;
  cairn__ocdbt_entry_t *entry;
};

static cairn_future_t *start(void *arg) {
  struct call *c = arg;
  switch (c->what) {
    case OPEN:
      return cairn__ocdbt_open(c->kv, c->out);
    case CREATE:
      return cairn__ocdbt_create(c->kv, c->o, c->out);
    case COMMIT:
      return cairn__ocdbt_commit(c->kv, c->summary);
    case MERGE:
      return cairn__ocdbt_merge(c->kv, c->o, c->children, c->n, c->summary);
    case CHECK:
      return cairn__ocdbt_check(c->kv);
    case WALK:
      return cairn__ocdbt_walk(c->kv, c->key, c->fn, c->arg);
    case LOCATE:
      return cairn__ocdbt_locate(c->kv, c->key, c->found, c->entry);
  }
  return NULL;
}

static cairn_code_t run(struct call c, cairn_error_t *err) {
  return cairn__call(cairn_kv_runtime(c.kv), start, &c, -1, err);
}

cairn_code_t db_open(cairn_kv_t *base, cairn_kv_t **out, cairn_error_t *err) {
  return run((struct call){.what = OPEN, .kv = base, .out = out}, err);
}

cairn_code_t db_create(cairn_kv_t *base, const cairn__ocdbt_write_opts_t *o,
                       cairn_kv_t **out, cairn_error_t *err) {
  return run((struct call){.what = CREATE, .kv = base, .o = o, .out = out},
             err);
}

cairn_code_t db_commit(cairn_kv_t *writer, cairn__ocdbt_summary_t *out,
                       cairn_error_t *err) {
  return run((struct call){.what = COMMIT, .kv = writer, .summary = out}, err);
}

cairn_code_t db_merge(cairn_kv_t *base, const cairn__ocdbt_write_opts_t *o,
                      const cairn__ocdbt_child_t *children, size_t n,
                      cairn__ocdbt_summary_t *out, cairn_error_t *err) {
  return run((struct call){.what = MERGE,
                           .kv = base,
                           .o = o,
                           .children = children,
                           .n = n,
                           .summary = out},
             err);
}

cairn_code_t db_check(cairn_kv_t *reader, cairn_error_t *err) {
  return run((struct call){.what = CHECK, .kv = reader}, err);
}

cairn_code_t db_walk(cairn_kv_t *reader, cairn_bytes_t prefix,
                     cairn__ocdbt_entry_fn fn, void *arg, cairn_error_t *err) {
  return run(
      (struct call){
          .what = WALK, .kv = reader, .key = prefix, .fn = fn, .arg = arg},
      err);
}

cairn_code_t db_locate(cairn_kv_t *reader, const char *key, bool *found,
                       cairn__ocdbt_entry_t *entry, cairn_error_t *err) {
  return run((struct call){.what = LOCATE,
                           .kv = reader,
                           .key = cairn_bytes_str(key),
                           .found = found,
                           .entry = entry},
             err);
}

void db_write(cairn_kv_t *base, const cairn__ocdbt_write_opts_t *o,
              const struct pair *pairs, size_t n,
              cairn__ocdbt_summary_t *summary) {
  cairn_error_t err = {0};
  cairn_kv_t *w = NULL;
  cairn__ocdbt_summary_t own = {0};
  cr_assert_eq(db_create(base, o, &w, &err), CAIRN_OK, "%s", err.message);
  for (size_t i = 0; i < n; i++) {
    struct iovec iov = {pairs[i].value, pairs[i].value_n};
    cr_assert_eq(kv_call_write(w, cairn_bytes(pairs[i].key, pairs[i].key_n),
                               &iov, 1, NULL, NULL, &err),
                 CAIRN_OK, "%s", err.message);
  }
  cr_assert_eq(db_commit(w, summary != NULL ? summary : &own, &err), CAIRN_OK,
               "%s", err.message);
  cr_assert_eq(kv_call_close(w, &err), CAIRN_OK, "%s", err.message);
  cairn__ocdbt_summary_free(&own);
}

void db_write_text(cairn_kv_t *base, const cairn__ocdbt_write_opts_t *o,
                   const char *text, cairn__ocdbt_summary_t *summary) {
  struct pair pairs[64];
  size_t n = 0;
  char *copy = strdup(text), *save = NULL;
  for (char *w = strtok_r(copy, " ", &save); w != NULL;
       w = strtok_r(NULL, " ", &save)) {
    char *eq = strchr(w, '=');
    pairs[n++] = (struct pair){.key = w,
                               .key_n = (size_t)(eq - w),
                               .value = eq + 1,
                               .value_n = strlen(eq + 1)};
  }
  db_write(base, o, pairs, n, summary);
  free(copy);
}

struct expected {
  const struct pair *pairs;
  size_t n, i;
};

static bool next_entry(void *arg, cairn_bytes_t key,
                       const cairn__ocdbt_entry_t *e) {
  struct expected *x = arg;
  cr_assert_lt(x->i, x->n, "more keys than were written");
  const struct pair *p = &x->pairs[x->i++];
  cr_expect(cairn__bytes_eq(key, cairn_bytes(p->key, p->key_n)),
            "key %zu is %.*s", x->i - 1, (int)key.n, (const char *)key.p);
  cr_expect_eq(e->is_inline ? e->value.n : e->loc.length, p->value_n);
  return true;
}

static void expect_value(cairn_kv_t *db, const struct pair *p) {
  cairn_error_t err = {0};
  cairn_value_t v = {0};
  cr_assert_eq(
      kv_call_read(db, cairn_bytes(p->key, p->key_n), CAIRN_WHOLE, &v, &err),
      CAIRN_OK, "%s", err.message);
  cr_expect(v.found, "%.*s is not there", (int)p->key_n, p->key);
  cr_expect_eq(v.total_size, p->value_n);
  cr_expect(cairn__bytes_eq(v.data, cairn_bytes(p->value, p->value_n)),
            "value of %.*s", (int)p->key_n, p->key);
  cairn_value_reset(&v);
}

void db_expect(cairn_kv_t *base, const struct pair *sorted, size_t n) {
  cairn_error_t err = {0};
  cairn_kv_t *db = NULL;
  struct expected x = {sorted, n, 0};
  cr_assert_eq(db_open(base, &db, &err), CAIRN_OK, "%s", err.message);
  cr_assert_eq(db_walk(db, cairn_bytes(NULL, 0), next_entry, &x, &err),
               CAIRN_OK, "%s", err.message);
  cr_expect_eq(x.i, n, "%zu keys of %zu", x.i, n);
  for (size_t i = 0; i < n; i++) expect_value(db, &sorted[i]);
  cr_expect_eq(db_check(db, &err), CAIRN_OK, "%s", err.message);
  cr_assert_eq(kv_call_close(db, &err), CAIRN_OK, "%s", err.message);
}

cairn_runtime_t *db_runtime(void) {
  cairn_error_t err = {0};
  cairn_runtime_t *rt = NULL;
  cairn_runtime_opts_t o = {.size = sizeof o, .cpu_threads = 1};
  cr_assert_eq(cairn_runtime_open(&o, &rt, &err), CAIRN_OK, "%s", err.message);
  return rt;
}

struct fixture db_fixture(void) {
  cairn_error_t err = {0};
  struct fixture f = {.rt = db_runtime()};
  cr_assert_eq(kv_call_open(f.rt, "memory://db/root", &f.base, &err), CAIRN_OK,
               "%s", err.message);
  return f;
}

void db_fixture_end(struct fixture *f) {
  cairn_error_t err = {0};
  cr_expect_eq(kv_call_close(f->base, &err), CAIRN_OK, "%s", err.message);
  cr_expect_eq(cairn_runtime_close(f->rt, &err), CAIRN_OK, "%s", err.message);
}

cairn__ocdbt_write_opts_t db_plain_opts(uint32_t max_inline,
                                        uint32_t max_node) {
  cairn__ocdbt_write_opts_t o;
  cairn__ocdbt_orbax_opts(&o);
  o.config.zstd = false;
  o.config.max_inline_value_bytes = max_inline;
  o.config.max_decoded_node_bytes = max_node;
  return o;
}
