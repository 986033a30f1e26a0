/* A job of one process with a manager on a root, for tests of what a hostile or
 * clumsy caller brings. Everything here goes through the public interface. */
#ifndef TESTS_UNIT_MANAGER_LONE_H_
#define TESTS_UNIT_MANAGER_LONE_H_

#include "cairn/cairn.h"

typedef struct lone {
  cairn_runtime_t *rt;
  cairn_comm_t *comm;
  cairn_manager_t *m;
} lone_t;

/* Fails the test if it does not open. */
void lone_open(lone_t *l, const char *root, const cairn_manager_opts_t *opts);
/* The same, but returns what the manager's open says; *err may be NULL. */
cairn_code_t lone_try_open(lone_t *l, const char *root,
                           const cairn_manager_opts_t *opts,
                           cairn_error_t *err);
/* Ends all of it; the outcome of the manager's close. */
cairn_code_t lone_close(lone_t *l, cairn_error_t *err);

/* Saves and waits until it is committed. */
cairn_code_t lone_save(lone_t *l, int64_t step, const cairn_tree_t *tree,
                       cairn_error_t *err);

/* A tree that holds nothing yet. */
cairn_tree_t *tree_of_nothing(void);

/* Entries in a directory, without "." and ".."; -1: there is none. */
int entries_in(const char *dir);

#endif
