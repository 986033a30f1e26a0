/* Reading one value (section 12.5), and finding out where it lies. */
#include <stdlib.h>

#include "ocdbt/reader.h"

struct reading {
  cairn__reader_t *r;
  cairn_read_opts_t o;
  cairn_value_t *out;
  cairn__found_t found;
  uint64_t size;
  cairn_gen_t gen;
  cairn_future_t *done;
  cairn_wait_t wait;
};

static void reading_end(struct reading *s, cairn_error_t *err) {
  cairn_future_t *done = s->done;
  if (err->code != CAIRN_OK) {
    cairn_value_reset(s->out);
  } else if (s->found.node != NULL) {
    s->out->found = true;
    s->out->total_size = s->size;
    s->out->gen = s->gen;
  } else {
    s->out->gen = CAIRN_GEN_ABSENT;
  }
  cairn__nodes_release(&s->r->nodes, s->found.node);
  free(s);
  cairn_future_resolve(done, err);
}

/* Same content, or same place: same generation (section 12.5). */
static cairn_gen_t generation_of(const cairn__ocdbt_entry_t *e) {
  const cairn__ocdbt_loc_t *l = &e->loc;
  cairn_gen_t g = {.n = 17, .b = {e->is_inline ? 1 : 0}};
  for (uint64_t seed = 1; seed <= 2; seed++) {
    uint64_t h = seed;
    if (e->is_inline) {
      h = cairn__hash64(e->value.p, e->value.n, h);
    } else {
      const uint64_t place[4] = {l->offset, l->length, l->file.base.n,
                                 l->file.rel.n};
      h = cairn__hash64(place, sizeof place, h);
      h = cairn__hash64(l->file.base.p, l->file.base.n, h);
      h = cairn__hash64(l->file.rel.p, l->file.rel.n, h);
    }
    memcpy(g.b + 1 + 8 * (seed - 1), &h, 8);
  }
  return g;
}

static void on_value(cairn_wait_t *w) {
  struct reading *s = cairn_container_of(w, struct reading, wait);
  cairn_error_t err = {0};
  cairn_wait_result(w, &err);
  reading_end(s, &err);
}

/* Inline bytes are copied: the node may go before the value does. */
static cairn_code_t copy_inline(struct reading *s, uint64_t off, size_t n,
                                cairn_error_t *err) {
  void *dst = NULL;
  cairn_code_t rc = cairn__value_room(&s->o, n, s->out, &dst, err);
  if (rc == CAIRN_OK && n != 0) memcpy(dst, s->found.entry->value.p + off, n);
  return rc;
}

static bool fits(const struct reading *s, size_t n, cairn_error_t *err) {
  if (s->o.dst == NULL || n <= s->o.cap) return true;
  cairn_fail(err, CAIRN_INVALID, "%zu bytes do not fit the destination of %zu",
             n, s->o.cap);
  return false;
}

/* Fetches the part that was asked for; true if that goes on. */
static bool fetch(struct reading *s, cairn_error_t *err) {
  const cairn__ocdbt_entry_t *e = s->found.entry;
  uint64_t off = 0;
  size_t n = 0;
  s->size = e->is_inline ? e->value.n : e->loc.length;
  s->gen = generation_of(e);
  if (s->o.what == CAIRN_READ_STAT ||
      cairn__read_range(&s->o, s->size, &off, &n, err) != CAIRN_OK)
    return false;
  if (e->is_inline || n == 0) {
    copy_inline(s, off, n, err);
    return false;
  }
  if (!fits(s, n, err)) return false;
  cairn_then(cairn__blob_read(s->r->base, &e->loc, off, n, s->o.dst, s->out),
             &s->wait, on_value);
  return true;
}

static void on_found(cairn_wait_t *w) {
  struct reading *s = cairn_container_of(w, struct reading, wait);
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) == CAIRN_OK && s->found.node != NULL &&
      fetch(s, &err))
    return;
  reading_end(s, &err);
}

cairn_future_t *cairn__reader_read(cairn_runtime_t *rt, void *self,
                                   cairn_bytes_t key,
                                   const cairn_read_opts_t *o,
                                   cairn_value_t *out) {
  cairn_future_t *done;
  struct reading *s = cairn__op_new(rt, sizeof *s, "read", &done);
  if (s == NULL) return done;
  *s = (struct reading){.r = self, .o = *o, .out = out, .done = done};
  cairn_then(cairn__tree_lookup(s->r, key, &s->found), &s->wait, on_found);
  return done;
}

/* --- locate --- */

struct locating {
  cairn__reader_t *r;
  cairn__found_t found;
  bool *is_found;
  cairn__ocdbt_entry_t *entry;
  cairn_future_t *done;
  cairn_wait_t wait;
};

/* What the entry points to lives as long as its node, so that one stays. */
static void on_located(cairn_wait_t *w) {
  struct locating *s = cairn_container_of(w, struct locating, wait);
  cairn__reader_t *r = s->r;
  cairn__tree_node_t *node = s->found.node;
  cairn_future_t *done = s->done;
  cairn_error_t err = {0};
  *s->is_found = cairn_wait_result(w, &err) == CAIRN_OK && node != NULL;
  if (*s->is_found) {
    *s->entry = *s->found.entry;
    if (node->pinned) cairn__nodes_release(&r->nodes, node);
    node->pinned = true;
  }
  free(s);
  cairn__kv_leave(r->kv);
  cairn_future_resolve(done, &err);
}

cairn_future_t *cairn__ocdbt_locate(cairn_kv_t *reader, cairn_bytes_t key,
                                    bool *found, cairn__ocdbt_entry_t *entry) {
  cairn_future_t *done;
  cairn__reader_t *r = cairn__reader_of(reader, &done);
  if (r == NULL) return done;
  struct locating *s = cairn__op_new(r->rt, sizeof *s, "locate", &done);
  if (s == NULL) return done;
  *s = (struct locating){
      .r = r, .is_found = found, .entry = entry, .done = done};
  cairn__kv_enter(r->kv);
  cairn_then(cairn__tree_lookup(r, key, &s->found), &s->wait, on_located);
  return done;
}
