/* Finding the steps of a root: the primary looks, everyone is told.
 *
 *   phase    who      what
 *   OPEN     all      the store of the root
 *   PROBE    primary  first time: what is there, may we write? make it
 *   SWEEP    primary  first time: what killed saves left
 *   LIST     primary  names that are steps
 *   LOOK     primary  from the newest down, until one is whole and marked
 *                     committed: those that are not are no steps
 *   SCANNED  all      vote: also on options; carries the list
 *   CLOSE    all
 *
 * Releases of Orbax from 0.12.3 on write commit_success.txt last of all, older
 * ones never do. So one that is whole without it is a step after all, unless a
 * step that was committed before it has the mark.
 *
 * Lives on the caller's stack, who waits for it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "checkpoint/owner.h"
#include "checkpoint/owner_record.h"
#include "kv/kv.h"
#include "loop/loop.h"
#include "manager/internal.h"

enum phase { OPEN, PROBE, SWEEP, LIST, LOOK, SCANNED, CLOSE, DONE };

#define OP_OPEN 0x4f50454eu /* "OPEN" */

struct scan {
  cairn_manager_t *m;
  bool first;
  int phase;
  size_t at;
  cairn_error_t err, late;
  cairn_wait_t wait;
  cairn__vote_t vote;
  cairn_future_t *done;
  cairn_kv_t *root, *step;
  int64_t *steps;
  size_t n, cap;
  bool no_memory, seen, is_step;
  cairn_buf_t brought; /* this rank's root and options, as text */
  char id[33];         /* of the probe */
  char probe[192];
  struct iovec iov;
  cairn__step_look_t look;
  size_t unmarked; /* steps up to the newest that is whole but unmarked; 0 */
  int64_t unmarked_ns; /* when that says it was committed */
};

static void advance(struct scan *s);

/* --- the primary's phases --- */

/* The files of a step lie in it, not beside steps. */
static bool on_entry(void *arg, cairn_bytes_t key, int64_t size) {
  static const char *const files[] = {"_CHECKPOINT_METADATA", "_METADATA",
                                      CAIRN__BINDING_FILE};
  struct scan *s = arg;
  (void)size;
  s->seen = true;
  for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
    if (cairn__bytes_eq(key, cairn_bytes_str(files[i]))) s->is_step = true;
  return !s->is_step;
}

static bool refuse_step(struct scan *s) {
  if (s->is_step)
    cairn_fail(&s->err, CAIRN_INVALID,
               "%s is a step or an item, not a root of steps", s->m->root);
  return s->is_step;
}

/* A root that is read only, or a file, or on a full disk, shows now and not at
 * the first save, hours later. The file is made in a directory that names us,
 * so that a sweep may remove what a kill leaves. */
static cairn_future_t *probe(struct scan *s) {
  static const cairn_write_opts_t later = {.size = sizeof(later),
                                           .defer_sync = true};
  char suffix[128], key[256];
  switch (s->at++) {
    case 0: /* a file in the root's place is named as such by a listing */
      return cairn_kv_list_dir(s->root, cairn_bytes(NULL, 0), on_entry, s);
    case 1:
      if (refuse_step(s)) return NULL;
      cairn__random_id(s->id);
      if (!cairn__owner_begin(s->id)) {
        cairn_fail(&s->err, CAIRN_NO_MEMORY, "looking at %s", s->m->root);
        return NULL;
      }
      cairn__owner_staging_suffix(s->id, suffix, sizeof(suffix));
      snprintf(s->probe, sizeof(s->probe), CAIRN__PROBE_PREFIX "%s/", suffix);
      snprintf(key, sizeof(key), "%sx", s->probe);
      s->iov = (struct iovec){key, 0};
      return cairn_kv_write(s->root, cairn_bytes_str(key), &s->iov, 1, &later,
                            NULL);
    case 2:
      return cairn_kv_remove_prefix(s->root, cairn_bytes_str(s->probe));
    default:
      return NULL;
  }
}

/* Without leave to create: an empty root cannot be told from none on every
 * store, but either holds no step. */
static cairn_future_t *must_exist(struct scan *s) {
  if (s->at++ == 0)
    return cairn_kv_list_dir(s->root, cairn_bytes(NULL, 0), on_entry, s);
  if (!refuse_step(s) && !s->seen && s->m->opts.no_create)
    cairn_fail(&s->err, CAIRN_NOT_FOUND, "%s is not there, or empty",
               s->m->root);
  return NULL;
}

static bool on_name(void *arg, cairn_bytes_t key, int64_t size) {
  struct scan *s = arg;
  int64_t step;
  (void)size;
  if (key.n < 2 || key.p[key.n - 1] != '/') return true;
  if (!cairn__step_parse(&s->m->format, cairn_bytes(key.p, key.n - 1), &step))
    return true;
  if (s->n == s->cap) {
    size_t cap = s->cap == 0 ? 64 : s->cap * 2;
    int64_t *p = realloc(s->steps, cap * sizeof(*p));
    if (p == NULL) {
      s->no_memory = true;
      return false;
    }
    s->steps = p;
    s->cap = cap;
  }
  s->steps[s->n++] = step;
  return true;
}

static int ascending(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static cairn_future_t *list(struct scan *s) {
  if (s->at++ == 0)
    return cairn_kv_list_dir(s->root, cairn_bytes(NULL, 0), on_name, s);
  if (s->no_memory) cairn_fail(&s->err, CAIRN_NO_MEMORY, "list of steps");
  if (s->n > 1) qsort(s->steps, s->n, sizeof(*s->steps), ascending);
  return NULL;
}

static cairn_future_t *close_step(struct scan *s) {
  cairn_kv_t *step = s->step;
  s->step = NULL;
  return cairn_kv_close(step);
}

static void pass_over(struct scan *s, size_t at, const char *why) {
  cairn_log(s->m->rt, CAIRN_LOG_WARN, "%s: step %" PRId64 " is not whole: %s",
            s->m->root, s->steps[at - 1], why);
}

/* A step with the mark, s->n, was found below the newest without. */
static bool judge_unmarked(struct scan *s) {
  if (s->look.commit_ns == 0 || s->look.commit_ns >= s->unmarked_ns)
    return false;
  for (size_t at = s->unmarked; at > s->n; at--)
    pass_over(s, at, "no commit_success.txt, which a step before it has");
  s->unmarked = 0;
  return true;
}

/* True: the search is over, and the step looked at is the last of the list. */
static bool judge(struct scan *s) {
  const cairn__step_look_t *l = &s->look;
  bool whole = l->state == CAIRN_STEP_COMPLETE && l->num_items > 0;
  if (whole && l->marked) return s->unmarked == 0 || judge_unmarked(s);
  if (s->unmarked != 0) return false;
  if (whole) {
    s->unmarked = s->n;
    s->unmarked_ns = l->commit_ns;
  } else {
    pass_over(s, s->n, l->why != NULL ? l->why : "it is empty");
  }
  return false;
}

/* What was found at the call before decides; then the next one down is opened.
 */
static cairn_future_t *look(struct scan *s) {
  char name[200], prefix[210];
  if (s->step != NULL) return close_step(s);
  if (s->at > 0) {
    bool over = judge(s);
    cairn__step_look_free(&s->look);
    if (over) return NULL;
    s->n--;
  }
  if (s->n == 0) {
    s->n = s->unmarked;
    return NULL;
  }
  s->at++;
  cairn__step_name(&s->m->format, s->steps[s->n - 1], name, sizeof(name));
  snprintf(prefix, sizeof(prefix), "%s/", name);
  s->step = cairn_kv_prefix(s->root, cairn_bytes_str(prefix));
  if (s->step == NULL) {
    cairn_fail(&s->err, CAIRN_NO_MEMORY, "looking at step %s", name);
    return NULL;
  }
  return cairn__step_look(s->step, &s->look);
}

static cairn_future_t *start(struct scan *s) {
  const cairn_manager_opts_t *o = &s->m->opts;
  bool primary = s->m->primary, writes = s->first && !o->read_only;
  switch (s->phase) {
    case OPEN:
      if (s->at++ > 0) return NULL;
      return cairn__open_directory(s->m->rt, o->checkpointer.strategy,
                                   s->m->root, o->checkpointer.not_durable,
                                   &s->root);
    case PROBE:
      if (!primary || !s->first) return NULL;
      return o->no_create || o->read_only ? must_exist(s) : probe(s);
    case SWEEP:
      return primary && writes && s->at++ == 0 ? cairn__owner_sweep(s->root)
                                               : NULL;
    case LIST:
      return primary ? list(s) : NULL;
    case LOOK:
      return primary ? look(s) : NULL;
    default:
      if (s->step != NULL) return close_step(s);
      if (s->root == NULL) return NULL;
      cairn_kv_t *root = s->root;
      s->root = NULL;
      return cairn_kv_close(root);
  }
}

/* --- the vote --- */

static cairn_bytes_t next_line(cairn_bytes_t *text) {
  const uint8_t *end = memchr(text->p, '\n', text->n);
  size_t n = end != NULL ? (size_t)(end - text->p) : text->n;
  cairn_bytes_t line = cairn_bytes(text->p, n);
  size_t used = end != NULL ? n + 1 : n;
  *text = cairn_bytes(text->p + used, text->n - used);
  return line;
}

/* The first line in which a rank differs from the primary says what it is. */
static void compare(cairn_bytes_t own, cairn_bytes_t other, int rank,
                    cairn_error_t *err) {
  while (own.n != 0 || other.n != 0) {
    cairn_bytes_t a = next_line(&own), b = next_line(&other);
    if (cairn__bytes_eq(a, b)) continue;
    cairn_fail(err, CAIRN_MISMATCH,
               "ranks brought different options: rank 0 %.*s, rank %d %.*s",
               (int)a.n, (const char *)a.p, rank, (int)b.n, (const char *)b.p);
    return;
  }
}

static void give_steps(cairn__vote_t *v, cairn_error_t *err) {
  struct scan *s = v->user;
  for (int r = 1; r < cairn_comm_size(s->m->comm); r++)
    compare(v->gathered[0], v->gathered[r], r, err);
  v->down = cairn_bytes(s->steps, s->n * sizeof(*s->steps));
}

static void on_vote(cairn__vote_t *v) {
  struct scan *s = v->user;
  if (s->err.code == CAIRN_OK) {
    size_t n = v->received.n / sizeof(int64_t);
    int64_t *steps = malloc(v->received.n + 1);
    if (steps != NULL && n != 0) memcpy(steps, v->received.p, v->received.n);
    if (steps == NULL || !cairn__steps_replace(s->m, steps, n))
      cairn_fail(&s->err, CAIRN_NO_MEMORY, "list of steps");
    free(steps);
  }
  s->phase++;
  s->at = 0;
  advance(s);
}

static void vote(struct scan *s) {
  cairn__manager_opts_text(s->m, &s->brought);
  if (s->brought.failed) cairn_fail(&s->err, CAIRN_NO_MEMORY, "options");
  s->vote = (cairn__vote_t){.op = OP_OPEN,
                            .phase = (uint32_t)s->phase,
                            .phase_name = "steps listed",
                            .step = -1,
                            .up = cairn_buf_bytes(&s->brought),
                            .deadline_ms = s->m->ck->opts.deadline_ms,
                            .soft_limit_ms = s->m->ck->opts.soft_limit_ms,
                            .on_root = give_steps,
                            .user = s};
  cairn__agree(s->m->ck->call_lane, &s->vote, &s->err, on_vote);
}

/* --- flow --- */

static void on_work(cairn_wait_t *w) {
  struct scan *s = cairn_container_of(w, struct scan, wait);
  cairn_error_t err = {0};
  cairn_code_t rc = cairn_wait_result(w, &err);
  /* An empty directory under a step's name is no step. */
  if (s->phase == LOOK && rc == CAIRN_NOT_FOUND) err = (cairn_error_t){0};
  cairn_error_copy(s->phase == CLOSE ? &s->late : &s->err, &err);
  advance(s);
}

static void advance(struct scan *s) {
  while (s->phase < DONE) {
    if (s->phase == SCANNED) {
      vote(s);
      return;
    }
    cairn_future_t *f =
        s->err.code == CAIRN_OK || s->phase == CLOSE ? start(s) : NULL;
    if (f != NULL) {
      cairn_then(f, &s->wait, on_work);
      return;
    }
    s->phase++;
    s->at = 0;
  }
  cairn__owner_end(s->id);
  cairn_future_resolve(s->done, &s->err);
}

static cairn_future_t *scan_start(void *arg) {
  struct scan *s = arg;
  cairn_future_t *done;
  if (!cairn__promise(s->m->rt, &done)) return done;
  s->done = done;
  advance(s);
  return done;
}

cairn_code_t cairn__manager_scan(cairn_manager_t *m, bool first,
                                 const cairn_error_t *brought,
                                 cairn_error_t *err) {
  struct scan s = {.m = m, .first = first};
  if (brought != NULL) cairn_error_copy(&s.err, brought);
  cairn_code_t rc = cairn__call(m->rt, scan_start, &s, -1, err);
  cairn__step_look_free(&s.look);
  cairn_buf_reset(&s.brought);
  free(s.steps);
  return rc;
}
