/* What an item's handler finds wrong, and where that lies: a key of the item's
 * store is a leaf and a chunk, and a place in a data file. */
#include <stdlib.h>

#include "base/base.h"
#include "checkpoint/verify.h"
#include "loop/loop.h"
#include "ocdbt/ocdbt.h"

struct item_damage {
  char *key;
  cairn_bytes_t key_bytes;
  cairn_error_t what;
};

struct verify_item {
  cairn__verify_t *v;
  cairn__item_call_t call;
  struct item_damage *found;
  size_t n, cap;
  bool no_memory, leaf_follows; /* one was told */
  cairn_kv_t *reader;           /* while looking a key up */
  size_t at;
  bool is_there;
  cairn__ocdbt_entry_t entry;
};

/* --- the handler --- */

/* Loop. */
static void on_damage(void *arg, cairn_bytes_t key, const cairn_error_t *what) {
  struct verify_item *q = arg;
  if (q->n == q->cap) {
    size_t more = q->cap == 0 ? 8 : q->cap * 2;
    struct item_damage *p = realloc(q->found, more * sizeof(*p));
    if (p == NULL) {
      q->no_memory = true;
      return;
    }
    q->found = p;
    q->cap = more;
  }
  struct item_damage *d = &q->found[q->n];
  *d = (struct item_damage){.key = cairn__bytes_dup(key), .what = *what};
  d->key_bytes = cairn_bytes(d->key, key.n);
  if (d->key == NULL)
    q->no_memory = true;
  else
    q->n++;
}

static cairn_future_t *start_verify(void *arg) {
  struct verify_item *q = arg;
  return q->call.item->ops->verify(&q->call.ctx, on_damage, q);
}

/* --- where a key lies --- */

static cairn_future_t *start_reader(void *arg) {
  struct verify_item *q = arg;
  return cairn_item_reader(&q->call.ctx, true, &q->reader);
}

static cairn_future_t *start_locate(void *arg) {
  struct verify_item *q = arg;
  return cairn__ocdbt_locate(q->reader, q->found[q->at].key_bytes, &q->is_there,
                             &q->entry);
}

/* The data file that holds the key's value; malloc'd. NULL: not known. */
static char *file_of(struct verify_item *q, int64_t *offset) {
  cairn_runtime_t *rt = q->v->step->rt;
  const cairn__step_item_t *item = q->call.item;
  if (q->reader == NULL &&
      cairn__call(rt, start_reader, q, -1, NULL) != CAIRN_OK)
    return NULL;
  if (cairn__call(rt, start_locate, q, -1, NULL) != CAIRN_OK || !q->is_there ||
      q->entry.is_inline)
    return NULL;
  const cairn__ocdbt_loc_t *l = &q->entry.loc;
  *offset = (int64_t)l->offset;
  return cairn__printf("%s%.*s%.*s", item->prefix, (int)l->file.base.n,
                       (const char *)l->file.base.p, (int)l->file.rel.n,
                       (const char *)l->file.rel.p);
}

/* --- reports --- */

/* Leaf and chunk are split from the key; d has the rest. */
static void add(struct verify_item *q, cairn_bytes_t leaf, cairn_bytes_t chunk,
                cairn__found_damage_t *d) {
  char *leaf_text = cairn__bytes_dup(leaf);
  char *chunk_text = cairn__bytes_dup(chunk);
  d->item = q->call.item->name;
  d->leaf = leaf_text;
  d->chunk = chunk_text;
  d->code = q->found[q->at].what.code;
  if (leaf_text == NULL || chunk_text == NULL)
    q->no_memory = true;
  else
    cairn__verify_add(q->v, d);
  free(leaf_text);
  free(chunk_text);
}

/* True if the index of the store is to blame, which was told of. Without a leaf
 * it is worth a word only if no leaf is. */
static bool follows(struct verify_item *q, cairn_bytes_t leaf) {
  cairn__verify_t *v = q->v;
  cairn__damage_cause_t cause;
  bool found = false;
  if (!cairn__damage_cause(&v->listing, q->call.item->prefix,
                           q->found[q->at].what.message, &cause))
    q->no_memory = true;
  for (size_t i = 0; cause.file != NULL && i < v->n && !found; i++)
    found = v->found[i].index && v->found[i].offset == cause.offset &&
            strcmp(v->found[i].file, cause.file) == 0;
  if (found && (leaf.n > 0 || !q->leaf_follows)) {
    cairn__found_damage_t d = {.file = cause.file,
                               .text = (char *)cause.text,
                               .offset = cause.offset,
                               .follows = true};
    add(q, leaf, cairn_bytes(NULL, 0), &d);
    q->leaf_follows = true;
  }
  free(cause.file);
  return found;
}

/* Rooms below say which key of which store they read: that is the leaf and the
 * chunk, which the report names by themselves. */
static char *text_of(const struct item_damage *found) {
  static const char store[] = "|ocdbt:";
  char *text = (char *)found->what.message;
  char *key = strstr(text, store);
  if (key == NULL) return text;
  key += sizeof(store) - 1;
  size_t n = strlen(found->key);
  bool same = strncmp(key, found->key, n) == 0 && key[n] == ':';
  return same && key[n + 1] == ' ' ? key + n + 2 : text;
}

/* The key is a file's name, or one of the store of arrays. */
static void report(struct verify_item *q) {
  const cairn__step_item_t *item = q->call.item;
  const char *key = q->found[q->at].key;
  cairn_bytes_t leaf = {0}, chunk = {0};
  int64_t offset = -1;
  char *file = cairn__printf("%s%s", item->prefix, key);
  bool is_file = file != NULL && key[0] != 0 &&
                 cairn__listing_find(&q->v->listing, file) != NULL;
  bool is_plain = strcmp(key, "manifest.ocdbt") == 0 ||
                  (strchr(key, '/') == NULL && key[0] == '_');
  if (!is_plain && key[0] != 0)
    cairn__damage_leaf(&item->info, q->found[q->at].key_bytes, &leaf, &chunk);
  if (follows(q, leaf)) {
    free(file);
    return;
  }
  if (!is_file && !is_plain) {
    free(file);
    file = key[0] != 0 ? file_of(q, &offset) : NULL;
  }
  cairn__found_damage_t d = {
      .file = file, .text = text_of(&q->found[q->at]), .offset = offset};
  add(q, leaf, chunk, &d);
  free(file);
}

static void report_failure(cairn__verify_t *v, const cairn__step_item_t *item,
                           cairn_error_t *what) {
  int64_t offset;
  const char *file =
      cairn__damage_place(&v->listing, item->prefix, what->message, &offset);
  cairn__found_damage_t d = {.file = (char *)file,
                             .item = item->name,
                             .text = what->message,
                             .offset = offset,
                             .code = what->code};
  cairn__verify_add(v, &d);
}

/* --- counts --- */

static int64_t chunks_of(const cairn_leaf_info_t *leaf) {
  int64_t n = leaf->has_data ? 1 : 0;
  for (int i = 0; i < leaf->rank && n > 0; i++) {
    int64_t c = leaf->chunk[i] > 0 ? leaf->chunk[i] : 1;
    int64_t along = leaf->shape[i] / c + (leaf->shape[i] % c != 0);
    if (!cairn__mul_ok(n, along, &n)) return INT64_MAX / 2;
  }
  return n;
}

/* An item that cannot be inspected is damaged, and its handler says how. */
static void count_chunks(cairn__verify_t *v, const cairn__step_item_t *item) {
  const cairn_item_info_t *info;
  if (cairn_step_inspect(v->step, item->name, &info, NULL) != CAIRN_OK) return;
  for (size_t i = 0; i < info->n; i++)
    v->out.chunks += chunks_of(&info->leaves[i]);
}

static cairn_code_t finish(struct verify_item *q, cairn_error_t *what,
                           cairn_error_t *err) {
  for (q->at = 0; q->at < q->n; q->at++) report(q);
  if (what->code != CAIRN_OK && cairn__is_damage(what->code))
    report_failure(q->v, q->call.item, what);
  else if (what->code != CAIRN_OK)
    return cairn_error_copy(err, what);
  if (q->no_memory)
    return cairn_fail(err, CAIRN_NO_MEMORY, "item %s", q->call.item->name);
  return CAIRN_OK;
}

cairn_code_t cairn__verify_item(cairn__verify_t *v, cairn__step_item_t *item,
                                cairn_error_t *err) {
  struct verify_item q = {.v = v};
  cairn_error_t what = {0};
  if (item->ops == NULL) {
    v->out.unknown_items++;
    return CAIRN_OK;
  }
  count_chunks(v, item);
  cairn_code_t rc = cairn__item_call_begin(v->step, item, &q.call, err);
  if (rc != CAIRN_OK) return rc;
  cairn__call(v->step->rt, start_verify, &q, -1, &what);
  rc = finish(&q, &what, err);
  if (!v->step->bound) v->out.bytes += q.call.ctx.bytes;
  cairn__item_call_end(&q.call);
  for (size_t i = 0; i < q.n; i++) free(q.found[i].key);
  free(q.found);
  return rc;
}
