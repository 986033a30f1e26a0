/* Opening a checkpointer on several ranks. */
#include <criterion/criterion.h>

#include "cairn/cairn.h"
#include "support/ranks.h"

#define VICTIM 1

struct job {
  cairn_checkpointer_opts_t victim; /* the others have the default ones */
  cairn_code_t want;
};

/* All fail alike, and none waits for another until the deadline. */
static void open_one(rank_env_t *env) {
  struct job *job = env->arg;
  cairn_checkpointer_opts_t o = {0};
  cairn_checkpointer_t *ck;
  cairn_error_t err = {0};
  if (env->rank == VICTIM) o = job->victim;
  cr_expect_eq(cairn_checkpointer_open(env->rt, env->comm, &o, &ck, &err),
               job->want, "%s", err.message);
}

Test(checkpointer, ranks_with_other_options_hear_of_it) {
  static const cairn_checkpointer_opts_t other[] = {
      {.profile = CAIRN_PROFILE_ORBAX},
      {.chunk_bytes = 1 << 20},
      {.no_compression = true},
      {.not_durable = true},
      {.deadline_ms = 60000}};
  for (size_t i = 0; i < sizeof other / sizeof *other; i++)
    ranks_run(3, open_one, &(struct job){other[i], CAIRN_MISMATCH});
}

Test(checkpointer, wrong_options_of_one_rank_are_heard_by_all) {
  static const cairn_checkpointer_opts_t wrong[] = {
      {.profile = (cairn_profile_t)7},
      {.chunk_bytes = -1},
      {.deadline_ms = -1}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    ranks_run(3, open_one, &(struct job){wrong[i], CAIRN_INVALID});
}

static void use_temporary_path(rank_env_t *env) {
  cairn_error_t err = {0};
  cairn_checkpointer_t *ck;
  cairn_item_t none[1] = {{0}};
  cr_assert_eq(cairn_checkpointer_open(env->rt, env->comm, NULL, &ck, &err),
               CAIRN_OK, "%s", err.message);
  cr_expect_eq(cairn_checkpointer_restore(ck, "runs/a/7.orbax-checkpoint-tmp",
                                          none, 0, NULL, &err),
               CAIRN_INVALID);
  cr_expect(strstr(err.message, "7.orbax-checkpoint-tmp is temporary"), "%s",
            err.message);
  err = (cairn_error_t){0};
  cr_expect_eq(cairn_checkpointer_restore(ck, "/", none, 0, NULL, &err),
               CAIRN_INVALID);
  cr_expect(strstr(err.message, "/ cannot be"), "%s", err.message);
  cr_expect_eq(cairn_checkpointer_close(ck, -1, NULL), CAIRN_OK);
}

Test(checkpointer, temporary_path_is_said_to_be_temporary) {
  ranks_run(1, use_temporary_path, NULL);
}
