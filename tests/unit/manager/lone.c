#include "lone.h"

#include <criterion/criterion.h>
#include <dirent.h>

cairn_code_t lone_try_open(lone_t *l, const char *root,
                           const cairn_manager_opts_t *opts,
                           cairn_error_t *err) {
  cairn_error_t e = {0};
  *l = (lone_t){0};
  cairn_runtime_opts_t o = {.cpu_threads = 1};
  cr_assert_eq(cairn_runtime_open(&o, &l->rt, &e), CAIRN_OK, "%s", e.message);
  cr_assert_eq(cairn_comm_self_open(l->rt, &l->comm, &e), CAIRN_OK, "%s",
               e.message);
  return cairn_manager_open(l->rt, l->comm, root, opts, &l->m, err);
}

void lone_open(lone_t *l, const char *root, const cairn_manager_opts_t *opts) {
  cairn_error_t err = {0};
  cr_assert_eq(lone_try_open(l, root, opts, &err), CAIRN_OK, "%s", err.message);
}

cairn_code_t lone_close(lone_t *l, cairn_error_t *err) {
  cairn_error_t e = {0};
  cairn_code_t rc = cairn_manager_close(l->m, -1, err);
  cr_assert_eq(cairn_comm_close(l->comm, &e), CAIRN_OK, "%s", e.message);
  cr_assert_eq(cairn_runtime_close(l->rt, &e), CAIRN_OK, "%s", e.message);
  *l = (lone_t){0};
  return rc;
}

cairn_code_t lone_save(lone_t *l, int64_t step, const cairn_tree_t *tree,
                       cairn_error_t *err) {
  cairn_code_t rc = cairn_manager_save(l->m, step, tree, NULL, err);
  return rc == CAIRN_OK ? cairn_manager_wait(l->m, -1, err) : rc;
}

cairn_tree_t *tree_of_nothing(void) {
  cairn_tree_t *t;
  cr_assert_eq(cairn_tree_new(&t, NULL), CAIRN_OK);
  return t;
}

int entries_in(const char *dir) {
  DIR *d = opendir(dir);
  if (d == NULL) return -1;
  int n = 0;
  for (struct dirent *e; (e = readdir(d)) != NULL;)
    n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
  closedir(d);
  return n;
}
