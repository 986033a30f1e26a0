/* What travels with the votes of a save, packed and unpacked.
 *
 * Descriptions and plans: for each item, varint length and bytes. What a rank
 * wrote: the files (varint count; each: name, length, sum), then for each
 * item a flag whether it has a private database, and if so the database's leaf
 * nodes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "checkpoint/checkpoint.h"

static void put_part(cairn_buf_t *b, cairn_bytes_t part) {
  cairn_buf_put_varint(b, part.n);
  cairn_buf_put(b, part.p, part.n);
}

static bool take_part(cairn_cur_t *c, cairn_bytes_t *out) {
  uint64_t n;
  return cairn_cur_varint64(c, &n) && n <= cairn_cur_left(c) &&
         cairn_cur_take(c, (size_t)n, out);
}

cairn_bytes_t cairn__packed_part(cairn_bytes_t packed, size_t i) {
  cairn_cur_t c = cairn_cur(packed);
  cairn_bytes_t part = {0};
  for (size_t k = 0; k <= i; k++)
    if (!take_part(&c, &part)) return cairn_bytes(NULL, 0);
  return part;
}

uint64_t cairn__save_items_hash(const cairn_save_t *s, uint64_t seed) {
  uint64_t h = seed;
  for (size_t i = 0; i < s->n; i++) {
    const cairn__save_item_t *item = &s->items[i];
    if (item->name != NULL)
      h = cairn__hash64(item->name, strlen(item->name) + 1, h);
    if (item->ops != NULL)
      h = cairn__hash64(item->ops->type, strlen(item->ops->type) + 1, h);
  }
  return h;
}

/* Handlers of different types may describe different things with the same
 * bytes, so the types count too: a plan is never used for other items. */
void cairn__save_pack_descriptions(cairn_save_t *s) {
  cairn_buf_reset(&s->packed);
  s->exchange = true;
  if (s->err.code != CAIRN_OK) return;
  for (size_t i = 0; i < s->n; i++) {
    put_part(&s->packed, cairn_buf_bytes(&s->items[i].description));
    if (s->items[i].description.failed) s->packed.failed = true;
  }
  if (s->packed.failed) {
    cairn_fail(&s->err, CAIRN_NO_MEMORY, "describing the items");
    return;
  }
  uint64_t seed = cairn__save_items_hash(s, 1);
  s->description_hash = cairn__hash64(s->packed.p, s->packed.n, seed) | 1;
  s->exchange = s->description_hash != s->ck->description_hash;
}

/* --- what was written --- */

static void put_file(cairn_buf_t *b, const char *name, uint64_t length,
                     uint64_t sum) {
  put_part(b, cairn_bytes_str(name));
  cairn_buf_put_varint(b, length);
  cairn_buf_put_u64le(b, sum);
}

/* The files of the private databases join those that the recorders noted. */
static bool note_database_files(cairn_save_t *s) {
  int rank = cairn_comm_rank(s->ck->comm);
  for (size_t i = 0; i < s->n; i++) {
    const cairn__save_item_t *item = &s->items[i];
    char *dir = cairn__printf("%s%socdbt.process_%d", item->name,
                              item->name[0] != 0 ? "/" : "", rank);
    if (dir == NULL) return false;
    bool ok = true;
    for (size_t k = 0; ok && k < item->summary.num_files; k++) {
      const cairn__ocdbt_written_file_t *f = &item->summary.files[k];
      ok = cairn__binding_add_file(&s->binding, dir, cairn_bytes_str(f->name),
                                   f->length, f->sum);
    }
    free(dir);
    if (!ok) return false;
  }
  return true;
}

static void count_stored(cairn_save_t *s) {
  long long stored = 0;
  for (size_t i = 0; i < s->binding.num_files; i++)
    stored += (long long)s->binding.files[i].length;
  atomic_store(&s->stored_bytes, stored);
}

void cairn__save_pack_written(cairn_save_t *s) {
  cairn_buf_t *b = &s->packed;
  cairn_buf_reset(b);
  bool ok = note_database_files(s);
  count_stored(s);
  cairn_buf_put_varint(b, s->binding.num_files);
  for (size_t i = 0; i < s->binding.num_files; i++) {
    const cairn__bound_file_t *f = &s->binding.files[i];
    put_file(b, f->name, f->length, f->sum);
  }
  for (size_t i = 0; i < s->n; i++) {
    cairn_buf_put_u8(b, s->items[i].has_writer);
    if (s->items[i].has_writer)
      put_part(b, cairn_buf_bytes(&s->items[i].summary.leaves));
  }
  if (!ok || b->failed)
    cairn_fail(&s->err, CAIRN_NO_MEMORY, "listing what was written");
}

bool cairn__save_keep_gathered(cairn_save_t *s, const cairn__vote_t *v) {
  size_t n = (size_t)cairn_comm_size(s->ck->comm);
  cairn_buf_reset(&s->gathered);
  free(s->parts);
  s->parts = calloc(n, sizeof(*s->parts));
  size_t total = 0;
  for (size_t r = 0; r < n; r++) total += v->gathered[r].n;
  if (s->parts == NULL || !cairn_buf_reserve(&s->gathered, total)) return false;
  for (size_t r = 0; r < n; r++) {
    size_t at = s->gathered.n;
    cairn_buf_put(&s->gathered, v->gathered[r].p, v->gathered[r].n);
    s->parts[r] = cairn_bytes(s->gathered.p + at, v->gathered[r].n);
  }
  return true;
}

static bool unpack_files(cairn_save_t *s, cairn_cur_t *c) {
  uint64_t n, length, sum;
  cairn_bytes_t name;
  if (!cairn_cur_varint64(c, &n)) return false;
  for (uint64_t i = 0; i < n; i++)
    if (!take_part(c, &name) || !cairn_cur_varint64(c, &length) ||
        !cairn_cur_u64le(c, &sum) ||
        !cairn__binding_add_file(&s->binding, "", name, length, sum))
      return false;
  return true;
}

/* Base paths live in s->text, one after another, NUL-terminated; they are
 * pointed to only once all are there, since the buffer moves as it grows. */
static bool unpack_children(cairn_save_t *s, cairn_cur_t *c) {
  for (size_t i = 0; i < s->n; i++) {
    cairn__save_item_t *item = &s->items[i];
    uint8_t has;
    cairn_bytes_t leaves;
    if (!cairn_cur_u8(c, &has)) return false;
    if (!has) continue;
    if (!take_part(c, &leaves)) return false;
    item->children[item->num_children++].leaves = leaves;
  }
  return cairn_cur_left(c) == 0;
}

static bool make_room(cairn_save_t *s, size_t ranks) {
  for (size_t i = 0; i < s->n; i++) {
    free(s->items[i].children);
    s->items[i].num_children = 0;
    s->items[i].children = calloc(ranks, sizeof(cairn__ocdbt_child_t));
    if (s->items[i].children == NULL) return false;
  }
  return true;
}

/* "ocdbt.process_<rank>/" for every rank, at rank * stride in s->text. */
enum { PATH_STRIDE = 48 };

static bool make_paths(cairn_save_t *s, size_t ranks) {
  char path[PATH_STRIDE];
  cairn_buf_reset(&s->text);
  for (size_t r = 0; r < ranks; r++) {
    memset(path, 0, sizeof(path));
    snprintf(path, sizeof(path), "ocdbt.process_%zu/", r);
    cairn_buf_put(&s->text, path, sizeof(path));
  }
  return !s->text.failed;
}

static void set_paths(cairn_save_t *s, const size_t *before, size_t rank) {
  const char *path = (const char *)s->text.p + rank * PATH_STRIDE;
  for (size_t i = 0; i < s->n; i++)
    if (s->items[i].num_children > before[i])
      s->items[i].children[before[i]].base_path = cairn_bytes_str(path);
}

cairn_code_t cairn__save_unpack_written(cairn_save_t *s, cairn_error_t *err) {
  size_t ranks = (size_t)cairn_comm_size(s->ck->comm);
  size_t *before = calloc(s->n, sizeof(*before));
  bool ok = before != NULL && make_room(s, ranks) && make_paths(s, ranks);
  /* What this rank noted is in its own part too. */
  cairn__binding_free(&s->binding);
  for (size_t r = 0; ok && r < ranks; r++) {
    cairn_cur_t c = cairn_cur(s->parts[r]);
    for (size_t i = 0; i < s->n; i++) before[i] = s->items[i].num_children;
    ok = unpack_files(s, &c) && unpack_children(s, &c);
    if (ok) set_paths(s, before, r);
  }
  free(before);
  return ok ? CAIRN_OK
            : cairn_fail(err, CAIRN_INTERNAL,
                         "what the ranks wrote: malformed");
}
