/* In which order a save's bytes are made durable: what a power cut may take is
 * never something that a step depends on. From what the system was asked, not
 * from what was written afterwards. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"

#define RANKS 3

struct order {
  char *root;
  cairn_manager_opts_t opts;
  pthread_barrier_t all;
  const shim_event_t *events;
  size_t n;
  const shim_event_t *commit; /* the rename that makes the step */
};

/* --- looking through the calls --- */

static bool ends(const char *text, const char *with) {
  size_t n = strlen(text), m = strlen(with);
  return n >= m && strcmp(text + n - m, with) == 0;
}

static bool before(const shim_event_t *a, const shim_event_t *b) {
  return a->end < b->begin;
}

static const shim_event_t *renamed_to(const struct order *o, const char *end) {
  const shim_event_t *found = NULL;
  for (size_t i = 0; i < o->n; i++)
    if (o->events[i].op == SHIM_RENAME && ends(o->events[i].to, end))
      found = &o->events[i];
  cr_assert_not_null(found, "nothing was renamed to %s", end);
  return found;
}

/* A sync of that file or directory between the two calls. */
static bool is_synced(const struct order *o, ino_t ino,
                      const shim_event_t *after, const shim_event_t *until) {
  for (size_t i = 0; i < o->n; i++) {
    const shim_event_t *e = &o->events[i];
    if (e->op == SHIM_SYNC && e->ino == ino && before(after, e) &&
        (until == NULL || before(e, until)))
      return true;
  }
  return false;
}

static bool is_change(const shim_event_t *e) {
  return e->op == SHIM_WRITE || e->op == SHIM_RESIZE;
}

/* That a name is there: a temporary name of a value does not matter. */
static bool is_entry(const shim_event_t *e) {
  return e->op == SHIM_RENAME || e->op == SHIM_MKDIR || e->op == SHIM_LINK ||
         (e->op == SHIM_OPEN && !ends(e->path, ".__lock"));
}

static const char *name_of(const shim_event_t *e) {
  return e->to != NULL ? e->to : e->path;
}

/* Whatever was done before `until` to names with `part` in them. */
static void durable_before(const struct order *o, const char *part,
                           const shim_event_t *until) {
  for (size_t i = 0; i < o->n; i++) {
    const shim_event_t *e = &o->events[i];
    if (e == until || strstr(name_of(e), part) == NULL || !before(e, until))
      continue;
    if (is_change(e))
      cr_expect(is_synced(o, e->ino, e, until), "%s is not synced before %s",
                e->path, until->to);
    if (is_entry(e))
      cr_expect(is_synced(o, e->parent, e, until),
                "the directory of %s is not synced before %s", name_of(e),
                until->to);
  }
}

/* --- a save whose calls are recorded --- */

static void rank(rank_env_t *env) {
  struct order *o = env->arg;
  cairn_manager_t *m = job_open(env, o->root, &o->opts);
  state_t s;
  state_init(&s, JOB_ROWS, JOB_COLS, env->rank, env->size);
  job_save_well(m, &s, 1);
  pthread_barrier_wait(&o->all);
  if (env->rank == 0) shim_arm(&(shim_rule_t){.root = o->root, .record = true});
  pthread_barrier_wait(&o->all);
  job_save_well(m, &s, 2);
  pthread_barrier_wait(&o->all);
  if (env->rank == 0) shim_disarm();
  job_close(m);
  state_free(&s);
}

static struct order recorded_save(cairn_manager_opts_t opts) {
  struct order o = {.root = crash_dir(), .opts = opts};
  pthread_barrier_init(&o.all, NULL, RANKS);
  ranks_run(RANKS, rank, &o);
  o.events = shim_events(&o.n);
  o.commit = renamed_to(&o, "/2");
  cr_assert_gt(o.n, 50);
  return o;
}

/* --- the tests --- */

static void data_before_manifests(const struct order *o) {
  const shim_event_t *merged = renamed_to(o, "/default/manifest.ocdbt");
  for (int r = 0; r < RANKS; r++) {
    char data[96], manifest[96], all[64];
    snprintf(all, sizeof(all), "/ocdbt.process_%d/", r);
    snprintf(data, sizeof(data), "%sd/", all);
    snprintf(manifest, sizeof(manifest), "%smanifest.ocdbt", all);
    const shim_event_t *own = renamed_to(o, manifest);
    durable_before(o, data, own);
    cr_expect(before(own, merged), "the merge is before %s", manifest);
    durable_before(o, all, merged);
  }
}

static void all_before_the_commit(const struct order *o) {
  const shim_event_t *binding = renamed_to(o, "/cairn.json");
  durable_before(o, ".orbax-checkpoint-tmp", o->commit);
  for (size_t i = 0; i < o->n; i++) {
    const shim_event_t *e = &o->events[i];
    if (e->op == SHIM_RENAME && e != binding && e != o->commit && !e->is_dir)
      cr_expect(before(e, binding), "%s comes after cairn.json", e->to);
  }
}

static void nothing_after_it_but_its_parent(const struct order *o) {
  cr_expect(is_synced(o, o->commit->parent, o->commit, NULL),
            "the root is not synced after the rename");
  for (size_t i = 0; i < o->n; i++)
    if (before(o->commit, &o->events[i]))
      cr_expect_eq(o->events[i].op, SHIM_SYNC, "%s after the rename",
                   o->events[i].path);
}

static void is_in_order(cairn_profile_t profile) {
  struct order o =
      recorded_save((cairn_manager_opts_t){.checkpointer.profile = profile});
  data_before_manifests(&o);
  all_before_the_commit(&o);
  nothing_after_it_but_its_parent(&o);
  crash_dir_remove(o.root);
}

Test(order, of_what_is_made_durable) {
  is_in_order(CAIRN_PROFILE_CAIRN);
}

Test(order, of_what_is_made_durable_as_orbax) {
  is_in_order(CAIRN_PROFILE_ORBAX_V1);
}

Test(order, takes_no_lock_and_needs_none) {
  struct order o = recorded_save((cairn_manager_opts_t){0});
  for (size_t i = 0; i < o.n; i++)
    cr_expect_neq(o.events[i].op, SHIM_LOCK, "%s", o.events[i].path);
  crash_dir_remove(o.root);
}

Test(order, nothing_is_synced_if_not_durable) {
  struct order o =
      recorded_save((cairn_manager_opts_t){.checkpointer.not_durable = true});
  for (size_t i = 0; i < o.n; i++)
    cr_expect_neq(o.events[i].op, SHIM_SYNC, "%s", o.events[i].path);
  crash_dir_remove(o.root);
}
