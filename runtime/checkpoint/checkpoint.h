/* The checkpointer and a save of it, as the files of this room and the manager
 * see them.
 *
 * Threads: the caller's thread makes a save (save_begin.c), from then on it
 * belongs to the loop thread (save.c and what it calls) until `done` is
 * resolved. What both look at is under ck->lock or atomic. */
#ifndef CAIRN_CHECKPOINT_CHECKPOINT_H_
#define CAIRN_CHECKPOINT_CHECKPOINT_H_

#include <pthread.h>
#include <stdatomic.h>
#include <uv.h>

#include "cairn/checkpointer.h"
#include "checkpoint/context.h"
#include "checkpoint/owner.h"
#include "checkpoint/side_files.h"
#include "comm/comm.h"

struct cairn_checkpointer {
  cairn_runtime_t *rt;
  cairn_comm_t *comm;
  cairn_checkpointer_opts_t opts;
  cairn__lane_t *save_lane, *call_lane; /* background saves; everything else */
  cairn__pool_t *pool;

  pthread_mutex_t lock;
  cairn_save_t *current;    /* in flight, or the last one; a reference */
  cairn_error_t background; /* of a save that failed, until someone is told */
  cairn_save_t *stuck; /* over for its caller, but a store call of it is still
                          out; a reference, or NULL */

  /* Loop thread: the plan that all ranks agreed on, and what it was made from.
   */
  uint64_t description_hash; /* 0: none */
  cairn_buf_t combined;      /* packed, one part an item */
};

typedef struct cairn__save_item {
  const cairn_handler_ops_t *ops;
  char *name;      /* "" where there is no item level */
  char *directory; /* of its temporary directory, for the strategy */
  void *state;     /* the handler's; NULL before snapshot and after drop */
  cairn_item_ctx_t ctx;
  struct cairn_item_private priv;
  cairn_kv_t *dir; /* view of its directory */
  cairn_buf_t description;
  cairn__ocdbt_summary_t summary; /* of this rank's database */
  bool has_writer;
  cairn__ocdbt_child_t *children; /* primary: of all ranks that wrote */
  size_t num_children;
} cairn__save_item_t;

struct cairn__beat; /* beat.c */

struct cairn_save {
  atomic_int refs;
  cairn_checkpointer_t *ck;
  cairn_runtime_t *rt;
  int64_t step;                /* -1: none */
  char *dir, *name;            /* parent directory; name in it */
  char tmp[CAIRN__OWNER_NAME]; /* what it is called until published */
  char mark[64];               /* what its data files begin with: marks.h */
  char id[33];                 /* of this save; the primary's choice */
  cairn__save_item_t *items;
  size_t n;
  cairn__hold_t hold; /* memory that was not copied */

  int phase; /* save.c */
  size_t at; /* within the phase */
  cairn_error_t err;
  cairn_error_t late; /* of clean-up: logged, changes no outcome */
  cairn_wait_t wait;
  cairn_task_t task;
  cairn__vote_t vote;
  bool primary, claimed, exchange, publishing, published;
  bool told;     /* the caller has had the error of the snapshot already */
  bool was_well; /* before the vote at hand */
  uint64_t description_hash;
  int64_t slowest; /* bytes of the rank that has the most, once agreed on */

  /* save_watch.c; times are the loop's, in ms */
  uv_timer_t timer;
  bool timer_made;
  uint64_t watch_began, soft_at, late_at;
  void (*watch_closed)(cairn_save_t *save);
  bool stuck;   /* work is still out that the save went on without */
  bool unclean; /* clean-up was left for when it comes back */
  bool voted;   /* in the last vote */
  bool over;    /* the outcome has been told */

  cairn_kv_t *root;
  cairn_kv_t *step_view, *step_dir; /* primary: the step's own directory */
  struct cairn__beat *beat;
  cairn_value_t value;      /* clean-up: a step of our name */
  cairn_buf_t packed;       /* what goes up with a vote */
  cairn_buf_t gathered;     /* primary: copies of what came */
  cairn_bytes_t *parts;     /* num_ranks views of gathered */
  cairn_buf_t combined;     /* primary: the new plan */
  cairn__binding_t binding; /* files written: this rank's, then all */
  cairn_buf_t text;         /* a side file being written */
  struct iovec iov;
  int64_t init_ns;

  /* Called on the loop thread with the outcome, before `done` is resolved. */
  void (*on_done)(void *arg, cairn_save_t *save);
  void *on_done_arg;

  cairn_future_t *written, *done, *released; /* released: nothing is out */
  bool written_resolved;
  int64_t begun_ns;
  atomic_llong blocked_ns, written_ns, committed_ns, bytes, stored_bytes;
};

/* --- options.c --- */

/* Options with the environment's over them and defaults in, checked. */
cairn_code_t cairn__checkpointer_opts(const cairn_checkpointer_opts_t *in,
                                      cairn_checkpointer_opts_t *out,
                                      cairn_error_t *err);
/* What a vote gets when a rank has up to `bytes` to write. */
typedef struct cairn__limits {
  int64_t soft_ms, late_ms;
} cairn__limits_t;
cairn__limits_t cairn__limits(const cairn_checkpointer_opts_t *o,
                              int64_t bytes);
/* What a rank's own work gets: less, so that it still comes to the vote. */
static inline int64_t cairn__work_ms(cairn__limits_t limits) {
  return limits.late_ms - limits.late_ms / 8 * 3;
}

/* --- checkpointer.c --- */

/* Waits until no save is in flight nor anything of one still out, and takes the
 * error that waits to be told. True: it may be freed; see close. */
bool cairn__checkpointer_end(cairn_checkpointer_t *ck, int64_t timeout_ms,
                             cairn_error_t *err);

/* --- save_begin.c, caller's thread --- */

/* An item's name; `unnamed` (NULL: "") for one that has none. */
static inline const char *cairn__item_name(const cairn_item_t *item,
                                           const char *unnamed) {
  if (item->name != NULL && item->name[0] != 0) return item->name;
  return unnamed != NULL ? unnamed : "";
}

typedef struct cairn__save_request {
  const char *dir, *name; /* copied */
  const char *unnamed;    /* what an item without a name is called; or NULL */
  int64_t step;
  const cairn_item_t *items;
  size_t n;
  void (*on_done)(void *arg, cairn_save_t *save);
  void *on_done_arg;
} cairn__save_request_t;

/* Waits for the save before, takes the snapshot, posts the rest. An error that
 * the save before left is returned instead, once. *out (may be NULL): a
 * reference. */
cairn_code_t cairn__save_begin(cairn_checkpointer_t *ck,
                               const cairn__save_request_t *req,
                               cairn_save_t **out, cairn_error_t *err);
void cairn__save_ref(cairn_save_t *save);
/* The error that waits to be told, if any; told once. */
cairn_code_t cairn__background_take(cairn_checkpointer_t *ck,
                                    cairn_error_t *err);

/* --- save.c, loop thread --- */
void cairn__save_run(cairn_task_t *t);
/* The work under way has passed its soft limit; its deadline. */
void cairn__save_warn(const cairn_save_t *s, int64_t waited_ms);
void cairn__save_late(cairn_save_t *s);

/* --- save_watch.c, loop thread --- */
void cairn__save_watch(cairn_save_t *s);      /* from now on */
int64_t cairn__save_unwatch(cairn_save_t *s); /* ms since then */
void cairn__save_watch_close(cairn_save_t *s, void (*fn)(cairn_save_t *s));

/* --- save_pack.c --- */
/* Of names and types of the items. */
uint64_t cairn__save_items_hash(const cairn_save_t *s, uint64_t seed);
void cairn__save_pack_descriptions(cairn_save_t *s);
void cairn__save_pack_written(cairn_save_t *s);
/* Copies v->gathered into s->gathered and s->parts: votes keep it only for a
 * call. */
bool cairn__save_keep_gathered(cairn_save_t *s, const cairn__vote_t *v);
cairn_code_t cairn__save_unpack_written(cairn_save_t *s, cairn_error_t *err);
/* Part i of a packed plan; empty if there is none. */
cairn_bytes_t cairn__packed_part(cairn_bytes_t packed, size_t i);

/* --- save_primary.c: what only the primary does; each a future, or NULL when
 * the phase is over (they go by s->at) --- */
cairn_future_t *cairn__save_create(cairn_save_t *s);
cairn_future_t *cairn__save_combine(cairn_save_t *s);
cairn_future_t *cairn__save_merge(cairn_save_t *s);
cairn_future_t *cairn__save_side_files(cairn_save_t *s);
cairn_future_t *cairn__save_publish(cairn_save_t *s);
cairn_future_t *cairn__save_clean(cairn_save_t *s);

/* --- beat.c --- */
struct cairn__beat *cairn__beat_start(cairn_kv_t *root, const char *tmp,
                                      const char *id); /* NULL: no memory */
/* Ready when no write of the owner file is under way any more; frees it. */
cairn_future_t *cairn__beat_stop(struct cairn__beat *beat);

/* --- restore.c, caller's thread, blocking --- */

typedef struct cairn__restore_request {
  const char *dir, *name;
  const char *unnamed; /* as in a save */
  int64_t step;
  const cairn_item_t *items;
  size_t n;
  bool partial;
} cairn__restore_request_t;
/* Options of a restore, as this build knows them. */
cairn_code_t cairn__restore_opts(const cairn_restore_opts_t *in,
                                 cairn_restore_opts_t *out, cairn_error_t *err);
cairn_code_t cairn__restore(cairn_checkpointer_t *ck,
                            const cairn__restore_request_t *req,
                            cairn_error_t *err);

/* --- shared --- */
/* A kv of a directory through the strategy; blocking strings are copied. */
cairn_future_t *cairn__open_directory(cairn_runtime_t *rt,
                                      const cairn_strategy_t *strategy,
                                      const char *directory, bool not_durable,
                                      cairn_kv_t **out);
/* "dir/name", or "dir" if name is empty; malloc'd. */
char *cairn__dir_join(const char *dir, const char *name);
/* Local paths absolute, URLs as they are; malloc'd. */
char *cairn__dir_absolute(const char *dir);

#endif
