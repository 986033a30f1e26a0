#include "checkpoint/hold.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "checkpoint/context.h"

/* What one call of cairn_item_hold added: sources, and behind them names. They
 * stay where they are, for sources are pointed to. */
struct source {
  cairn_source_t base;
  cairn__hold_t *hold;
  size_t part;
};

struct cairn__hold_block {
  struct cairn__hold_block *next;
  struct source sources[];
};

/* --- kinds --- */

/* Said once a process, not at each array. */
static void say_no_cow(const cairn_item_ctx_t *ctx, const cairn_error_t *why) {
  static atomic_bool said;
  if (!atomic_exchange(&said, true))
    cairn_log(ctx->rt, CAIRN_LOG_WARN, "arrays are copied: %s", why->message);
}

cairn_snapshot_t cairn_item_snapshot(const cairn_item_ctx_t *ctx,
                                     cairn_snapshot_t asked) {
  cairn_error_t why = {0};
  if (asked == CAIRN_SNAPSHOT_DEFAULT) asked = ctx->snapshot;
  if (asked == CAIRN_SNAPSHOT_DEFAULT) return CAIRN_SNAPSHOT_COPY;
  if (asked != CAIRN_SNAPSHOT_COW && asked != CAIRN_SNAPSHOT_AUTO) return asked;
  if (cairn__cow_available(&why) == CAIRN_OK) return CAIRN_SNAPSHOT_COW;
  if (asked == CAIRN_SNAPSHOT_AUTO && ctx->priv->hold->settles)
    return CAIRN_SNAPSHOT_LAZY;
  say_no_cow(ctx, &why);
  return CAIRN_SNAPSHOT_COPY;
}

/* --- adding --- */

void cairn__hold_init(cairn__hold_t *h, bool settles) {
  *h = (cairn__hold_t){.settles = settles};
  pthread_mutex_init(&h->lock, NULL);
  pthread_cond_init(&h->cond, NULL);
}

static cairn_code_t copy_out(const cairn_source_t *self, void *dst,
                             const void *src, size_t n, cairn_error_t *err) {
  const struct source *s = cairn_container_of(self, struct source, base);
  return cairn__snapshot_read(s->hold->snapshot, s->part, src, n, dst, err);
}

static const void *peek(const cairn_source_t *self, const void *src, size_t n) {
  const struct source *s = cairn_container_of(self, struct source, base);
  return cairn__snapshot_peek(s->hold->snapshot, s->part, src, n);
}

static bool reserve_parts(cairn__hold_t *h, size_t n) {
  size_t cap = h->cap != 0 ? h->cap : 16;
  if (n > SIZE_MAX / 4 - h->n) return false;
  while (cap < h->n + n) cap *= 2;
  if (cap == h->cap) return true;
  cairn__snapshot_part_t *p = reallocarray(h->parts, cap, sizeof *p);
  if (p == NULL) return false;
  h->parts = p;
  h->cap = cap;
  return true;
}

static struct cairn__hold_block *block_new(const cairn_item_part_t *parts,
                                           size_t n) {
  size_t bytes = sizeof(struct cairn__hold_block), names = 0;
  for (size_t i = 0; i < n; i++) names += parts[i].name.n + 1;
  return calloc(1, bytes + n * sizeof(struct source) + names);
}

static void add(cairn__hold_t *h, const cairn_item_part_t *part,
                struct source *source, char *name) {
  if (part->name.n != 0) memcpy(name, part->name.p, part->name.n);
  *source = (struct source){
      .base = {.copy_out = copy_out, .peek = peek}, .hold = h, .part = h->n};
  h->parts[h->n++] = (cairn__snapshot_part_t){
      .data = part->data, .n = part->n, .mode = part->mode, .name = name};
  h->unsettled |= part->mode == CAIRN_SNAPSHOT_LAZY;
}

cairn_code_t cairn_item_hold(cairn_item_ctx_t *ctx,
                             const cairn_item_part_t *parts, size_t n,
                             const cairn_source_t **sources,
                             cairn_error_t *err) {
  cairn__hold_t *h = ctx->priv->hold;
  struct cairn__hold_block *block = block_new(parts, n);
  if (block == NULL || !reserve_parts(h, n)) {
    free(block);
    return cairn_fail(err, CAIRN_NO_MEMORY, "out of memory for %zu arrays", n);
  }
  block->next = h->blocks;
  h->blocks = block;
  char *name = (char *)&block->sources[n];
  for (size_t i = 0; i < n; i++) {
    add(h, &parts[i], &block->sources[i], name);
    sources[i] = &block->sources[i].base;
    name += parts[i].name.n + 1;
  }
  return CAIRN_OK;
}

/* --- the life of the snapshot --- */

/* A part that cannot be protected is copied like those that are to be. */
static bool has_copies(const cairn__hold_t *h) {
  cairn__snapshot_stats_t stats;
  for (size_t i = 0; i < h->n; i++)
    if (h->parts[i].mode == CAIRN_SNAPSHOT_COPY) return true;
  cairn__snapshot_stats(h->snapshot, &stats);
  return stats.fallbacks > 0;
}

cairn_code_t cairn__hold_begin(cairn__hold_t *h, cairn__pool_t *pool,
                               size_t room, bool check, cairn_error_t *err) {
  const cairn__snapshot_opts_t opts = {.shadow_bytes = room, .check = check};
  if (h->n == 0) return CAIRN_OK;
  cairn_code_t rc =
      cairn__snapshot_begin(pool, h->parts, h->n, &opts, &h->snapshot, err);
  if (rc == CAIRN_OK) h->copies = has_copies(h);
  return rc;
}

/* The snapshot, to be given back: it is not dropped before. NULL: none. */
static cairn__snapshot_t *use(cairn__hold_t *h) {
  pthread_mutex_lock(&h->lock);
  cairn__snapshot_t *s = h->snapshot;
  h->settlers += s != NULL;
  pthread_mutex_unlock(&h->lock);
  return s;
}

static void unuse(cairn__hold_t *h, bool settled) {
  pthread_mutex_lock(&h->lock);
  h->settlers--;
  h->settled |= settled;
  pthread_cond_broadcast(&h->cond);
  pthread_mutex_unlock(&h->lock);
}

void cairn__hold_copy(cairn__hold_t *h) {
  cairn__snapshot_t *s = h->copies ? use(h) : NULL;
  if (s == NULL) return;
  /* Given up only if the save was: then the memory is the caller's anyway. */
  (void)!cairn__snapshot_copy(s, NULL);
  unuse(h, false);
}

static cairn_code_t settle_named(const cairn__hold_t *h, cairn__snapshot_t *s,
                                 const char *name, cairn_error_t *err) {
  cairn_code_t rc = CAIRN_OK;
  for (size_t i = 0; i < h->n && rc == CAIRN_OK; i++)
    if (strcmp(h->parts[i].name, name) == 0)
      rc = cairn__snapshot_settle(s, i, err);
  return rc;
}

cairn_code_t cairn__hold_settle(cairn__hold_t *h, const char *name,
                                cairn_error_t *err) {
  cairn__snapshot_t *s = use(h);
  if (s == NULL) return CAIRN_OK;
  cairn_code_t rc = name != NULL ? settle_named(h, s, name, err)
                                 : cairn__snapshot_settle(s, SIZE_MAX, err);
  unuse(h, rc == CAIRN_OK && name == NULL);
  return rc;
}

bool cairn__hold_settled(cairn__hold_t *h) {
  pthread_mutex_lock(&h->lock);
  bool settled = !h->unsettled || h->settled;
  pthread_mutex_unlock(&h->lock);
  return settled;
}

cairn_code_t cairn__hold_finish(void *hold, cairn_error_t *err) {
  cairn__hold_t *h = hold;
  cairn_code_t rc = cairn__snapshot_finish(h->snapshot, err);
  pthread_mutex_lock(&h->lock);
  h->settled = true;
  pthread_mutex_unlock(&h->lock);
  return rc;
}

void cairn__hold_cancel(cairn__hold_t *h) {
  if (h->snapshot == NULL || h->cancelled) return;
  h->cancelled = true;
  cairn__snapshot_cancel(h->snapshot);
}

static void free_blocks(cairn__hold_t *h) {
  while (h->blocks != NULL) {
    struct cairn__hold_block *next = h->blocks->next;
    free(h->blocks);
    h->blocks = next;
  }
  free(h->parts);
  h->parts = NULL;
  h->n = h->cap = 0;
}

void cairn__hold_reset(cairn__hold_t *h) {
  cairn__hold_cancel(h);
  pthread_mutex_lock(&h->lock);
  cairn__snapshot_t *s = h->snapshot;
  h->snapshot = NULL;
  while (h->settlers > 0) pthread_cond_wait(&h->cond, &h->lock);
  pthread_mutex_unlock(&h->lock);
  cairn__snapshot_drop(s);
  free_blocks(h);
}

void cairn__hold_free(cairn__hold_t *h) {
  cairn__hold_reset(h);
  pthread_cond_destroy(&h->cond);
  pthread_mutex_destroy(&h->lock);
  *h = (cairn__hold_t){0};
}
