/* The newest manifest (section 12.1). Of a numbered database, the file with the
 * highest number; another process may prune it between listing and reading,
 * then the search begins again. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "ocdbt/reader.h"

#define NAME "manifest.ocdbt"
#define NUMBERED "manifest."
#define DIGITS 16
/* Prunings in a row that are believed. */
#define MAX_ROUNDS 100

struct search {
  cairn_kv_t *base;
  cairn__ocdbt_manifest_t *out;
  cairn__ocdbt_config_t config; /* of NAME */
  cairn__ocdbt_manifest_t numbered;
  uint64_t newest; /* number of a file */
  int rounds;
  cairn_value_t value;
  cairn_future_t *done;
  cairn_wait_t wait;
};

static void search_end(struct search *s, const cairn_error_t *err) {
  cairn_future_t *done = s->done;
  cairn_value_reset(&s->value);
  cairn__ocdbt_manifest_free(&s->numbered);
  if (err->code != CAIRN_OK) cairn__ocdbt_manifest_free(s->out);
  free(s);
  cairn_future_resolve(done, err);
}

static void file_name(uint64_t number, char out[32]) {
  snprintf(out, 32, NUMBERED "%016" PRIx64, number);
}

/* --- numbered --- */

static void list_files(struct search *s);

static bool same_config(cairn__ocdbt_config_t a, cairn__ocdbt_config_t b) {
  return memcmp(a.uuid, b.uuid, sizeof a.uuid) == 0 &&
         a.max_inline_value_bytes == b.max_inline_value_bytes &&
         a.max_decoded_node_bytes == b.max_decoded_node_bytes &&
         a.version_tree_arity_log2 == b.version_tree_arity_log2 &&
         a.zstd == b.zstd && a.zstd_level == b.zstd_level;
}

static cairn_code_t check_numbered(const struct search *s, cairn_error_t *err) {
  const cairn__ocdbt_manifest_t *m = &s->numbered;
  if (m->config.manifest_kind != 0)
    return cairn_fail(err, CAIRN_CORRUPT,
                      "corrupt numbered manifest: its kind is numbered");
  uint64_t g = m->versions[m->num_versions - 1].generation;
  if (g != s->newest)
    return cairn_fail(
        err, CAIRN_CORRUPT,
        "corrupt numbered manifest: newest generation is %" PRIu64, g);
  if (!same_config(m->config, s->config))
    return cairn_fail(err, CAIRN_CORRUPT,
                      "corrupt numbered manifest: config is not that of " NAME);
  return CAIRN_OK;
}

static void on_numbered_decoded(cairn_wait_t *w) {
  struct search *s = cairn_container_of(w, struct search, wait);
  cairn_error_t err = {0};
  char name[32];
  file_name(s->newest, name);
  if (cairn_wait_result(w, &err) != CAIRN_OK ||
      check_numbered(s, &err) != CAIRN_OK) {
    cairn_within(&err, "%s", name);
  } else {
    *s->out = s->numbered;
    s->numbered = (cairn__ocdbt_manifest_t){0};
    s->out->config.manifest_kind = 1;
  }
  search_end(s, &err);
}

static cairn_code_t decode_numbered(void *job, cairn_error_t *err) {
  struct search *s = job;
  return cairn__ocdbt_manifest_decode(s->value.data, &s->numbered, err);
}

static void on_numbered_read(cairn_wait_t *w) {
  struct search *s = cairn_container_of(w, struct search, wait);
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) != CAIRN_OK) {
    search_end(s, &err);
  } else if (s->value.found) {
    cairn_then(cairn_work(cairn_kv_runtime(s->base), decode_numbered, s),
               &s->wait, on_numbered_decoded);
  } else if (++s->rounds < MAX_ROUNDS) {
    list_files(s);
  } else {
    cairn_fail(&err, CAIRN_UNAVAILABLE,
               "numbered manifests vanish while they are read");
    search_end(s, &err);
  }
}

static void on_listed(cairn_wait_t *w) {
  struct search *s = cairn_container_of(w, struct search, wait);
  cairn_error_t err = {0};
  char name[32];
  if (cairn_wait_result(w, &err) != CAIRN_OK || s->newest == 0) {
    if (err.code == CAIRN_OK) s->out->config = s->config; /* no version yet */
    search_end(s, &err);
    return;
  }
  file_name(s->newest, name);
  cairn_then(
      cairn_kv_read(s->base, cairn_bytes_str(name), CAIRN_WHOLE, &s->value),
      &s->wait, on_numbered_read);
}

/* Sixteen lower-case digits, not all zero; all other names mean nothing. */
static bool on_name(void *arg, cairn_bytes_t key, int64_t size) {
  struct search *s = arg;
  const size_t head = sizeof NUMBERED - 1;
  uint64_t number = 0;
  (void)size;
  if (key.n != head + DIGITS) return true;
  for (size_t i = head; i < key.n; i++) {
    uint8_t c = key.p[i];
    bool digit = c >= '0' && c <= '9';
    if (!digit && (c < 'a' || c > 'f')) return true;
    number = number << 4 | (uint64_t)(digit ? c - '0' : c - 'a' + 10);
  }
  if (number > s->newest) s->newest = number;
  return true;
}

static void list_files(struct search *s) {
  s->newest = 0;
  cairn_value_reset(&s->value);
  cairn_then(cairn_kv_list(s->base, cairn_bytes_str(NUMBERED), on_name, s),
             &s->wait, on_listed);
}

/* --- manifest.ocdbt --- */

static void on_decoded(cairn_wait_t *w) {
  struct search *s = cairn_container_of(w, struct search, wait);
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) != CAIRN_OK) cairn_within(&err, NAME);
  if (err.code != CAIRN_OK || s->out->config.manifest_kind == 0) {
    search_end(s, &err);
    return;
  }
  s->config = s->out->config;
  cairn__ocdbt_manifest_free(s->out);
  list_files(s);
}

static cairn_code_t decode_manifest(void *job, cairn_error_t *err) {
  struct search *s = job;
  return cairn__ocdbt_manifest_decode(s->value.data, s->out, err);
}

static void on_read(cairn_wait_t *w) {
  struct search *s = cairn_container_of(w, struct search, wait);
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) == CAIRN_OK && !s->value.found)
    cairn_fail(&err, CAIRN_NOT_FOUND, "there is no " NAME);
  if (err.code != CAIRN_OK)
    search_end(s, &err);
  else
    cairn_then(cairn_work(cairn_kv_runtime(s->base), decode_manifest, s),
               &s->wait, on_decoded);
}

cairn_future_t *cairn__manifest_load(cairn_kv_t *base,
                                     cairn__ocdbt_manifest_t *out) {
  cairn_runtime_t *rt = cairn_kv_runtime(base);
  cairn_future_t *done;
  struct search *s = cairn__op_new(rt, sizeof *s, NAME, &done);
  *out = (cairn__ocdbt_manifest_t){0};
  if (s == NULL) return done;
  s->base = base;
  s->out = out;
  s->done = done;
  cairn_then(cairn_kv_read(base, cairn_bytes_str(NAME), CAIRN_WHOLE, &s->value),
             &s->wait, on_read);
  return done;
}
