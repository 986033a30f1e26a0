/* Calls in the wrong order, too early, too often, with nothing in hand: an
 * error or a documented outcome, no crash, no leak, nothing that grows. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lone.h"
#include "support/ranks.h"
#include "support/state.h"

static char *dir;
static lone_t l;
static state_t s;
static cairn_error_t err;

static void setup(void) {
  dir = temp_dir();
  lone_open(&l, dir, NULL);
  state_init(&s, 64, 16, 0, 1);
  state_fill(&s, 1);
}

static void teardown(void) {
  if (l.rt != NULL) cr_assert_eq(lone_close(&l, NULL), CAIRN_OK);
  state_free(&s);
  temp_dir_remove(dir);
}

TestSuite(bad_input_calls, .init = setup, .fini = teardown);

/* The call failed so, and its message says so; err is clean again. */
static void expect(cairn_code_t rc, cairn_code_t want, const char *part) {
  cr_assert_eq(rc, want, "%s", err.message);
  cr_assert_not_null(strstr(err.message, part), "%s", err.message);
  err = (cairn_error_t){0};
}

/* --- order --- */

Test(bad_input_calls, closing_what_others_use_is_busy) {
  cr_assert_eq(cairn_runtime_close(l.rt, &err), CAIRN_BUSY);
  err = (cairn_error_t){0};
  cr_assert_eq(cairn_comm_close(l.comm, &err), CAIRN_BUSY, "%s", err.message);
  err = (cairn_error_t){0};
  cr_assert_eq(lone_save(&l, 1, s.tree, &err), CAIRN_OK, "%s", err.message);
}

Test(bad_input_calls, close_drains) {
  cr_assert_eq(cairn_manager_save(l.m, 1, s.tree, NULL, &err), CAIRN_OK);
  cr_assert_eq(cairn_manager_close(l.m, -1, &err), CAIRN_OK);
  l.m = NULL;
  cr_assert_eq(entries_in(dir), 1);
}

Test(bad_input_calls, close_without_time_can_be_called_again) {
  cr_assert_eq(cairn_manager_save(l.m, 1, s.tree, NULL, &err), CAIRN_OK);
  cairn_code_t rc;
  while ((rc = cairn_manager_close(l.m, 0, NULL)) == CAIRN_TIMED_OUT)
    cr_assert(cairn_manager_wait(l.m, 0, NULL) == CAIRN_TIMED_OUT ||
              cairn_manager_latest(l.m) == 1);
  cr_assert_eq(rc, CAIRN_OK);
  l.m = NULL;
}

Test(bad_input_calls, nothing_is_closed_twice_by_saying_null) {
  cr_assert_eq(cairn_manager_close(NULL, -1, &err), CAIRN_OK);
  cr_assert_eq(cairn_checkpointer_close(NULL, -1, &err), CAIRN_OK);
  cr_assert_eq(cairn_comm_close(NULL, &err), CAIRN_OK);
  cr_assert_eq(cairn_runtime_close(NULL, &err), CAIRN_OK);
  cairn_tree_free(NULL);
  cairn_save_unref(NULL);
  cairn_step_close(NULL);
}

Test(bad_input_calls, save_after_one_that_failed_works) {
  cairn_tree_t *bad = tree_of_nothing();
  cr_assert_eq(cairn_manager_save(l.m, 1, bad, NULL, &err), CAIRN_INVALID);
  cairn_tree_free(bad);
  err = (cairn_error_t){0};
  cr_assert_eq(lone_save(&l, 1, s.tree, &err), CAIRN_OK, "%s", err.message);
  cr_assert_eq(cairn_manager_latest(l.m), 1);
}

Test(bad_input_calls, restore_waits_for_the_save_before_it) {
  int64_t step = -1;
  cairn_restore_opts_t o = {.step = &step};
  for (int i = 1; i <= 20; i++) { /* cases.md 29 */
    state_fill(&s, i);
    cr_assert_eq(cairn_manager_save(l.m, i, s.tree, NULL, &err), CAIRN_OK);
    state_clear(&s);
    cr_assert_eq(cairn_manager_restore(l.m, CAIRN_LATEST, s.tree, &o, &err),
                 CAIRN_OK, "%s", err.message);
    cr_assert_eq(step, i);
    state_expect(&s, i);
  }
}

/* --- lifetimes: cases.md 30 --- */

Test(bad_input_calls, tree_and_memory_may_go_when_save_returns) {
  for (int64_t step = 0; step < 100; step++) {
    cairn_tree_t *t = tree_of_nothing();
    int64_t n = 1 + step * 97;
    float *data = malloc((size_t)n * sizeof(*data));
    char *text = strdup("text");
    for (int64_t i = 0; i < n; i++) data[i] = (float)(step + i);
    cairn_array_t a = {
        .dtype = CAIRN_F32, .rank = 1, .shape = {n}, .data = data};
    cairn_tree_put_array(t, "w", &a, &err);
    cairn_tree_put_string(t, "t", text, 5, &err);
    cr_assert_eq(cairn_manager_save(l.m, step, t, NULL, &err), CAIRN_OK);
    memset(data, 0xee, (size_t)n * sizeof(*data));
    free(data);
    free(text);
    cairn_tree_free(t);
  }
  static float back[1 + 99 * 97];
  char text[8] = "";
  cairn_tree_t *t = tree_of_nothing();
  cairn_array_t a = {
      .dtype = CAIRN_F32, .rank = 1, .shape = {1 + 99 * 97}, .data = back};
  cairn_tree_put_array(t, "w", &a, &err);
  cairn_tree_put_string(t, "t", text, sizeof(text), &err);
  cr_assert_eq(cairn_manager_restore(l.m, 99, t, NULL, &err), CAIRN_OK, "%s",
               err.message);
  for (int i = 0; i < 1 + 99 * 97; i++) cr_assert_eq(back[i], (float)(99 + i));
  cr_assert_str_eq(text, "text");
  cairn_tree_free(t);
}

Test(bad_input_calls, save_outlives_its_manager) {
  cairn_save_t *save = NULL;
  cairn_manager_save_opts_t o = {.save = &save};
  cairn_save_stats_t stats;
  cr_assert_eq(cairn_manager_save(l.m, 1, s.tree, &o, &err), CAIRN_OK);
  cairn_save_wait(save, CAIRN_SAVE_COMMITTED, 0, NULL);
  cr_assert(cairn_save_reached(save, CAIRN_SAVE_STAGED));
  cr_assert_eq(cairn_save_wait(save, CAIRN_SAVE_STAGED, 0, NULL), CAIRN_OK);
  cr_assert_eq(cairn_manager_close(l.m, -1, &err), CAIRN_OK);
  l.m = NULL;
  cr_assert(cairn_save_reached(save, CAIRN_SAVE_COMMITTED));
  cairn_save_stats(save, &stats);
  cr_assert_eq(stats.step, 1);
  cr_assert_gt(stats.bytes, 0);
  cairn_save_unref(save);
}

Test(bad_input_calls, reference_may_be_dropped_at_once) {
  for (int64_t step = 0; step < 20; step++) {
    cairn_save_t *save = NULL;
    cairn_manager_save_opts_t o = {.save = &save};
    cr_assert_eq(cairn_manager_save(l.m, step, s.tree, &o, &err), CAIRN_OK);
    cairn_save_unref(save);
  }
}

/* --- NULL --- */

Test(bad_input_calls, null_is_refused_where_something_is_needed) {
  cairn_item_t item = cairn_item("default", "tree", NULL);
  cairn_item_t other = cairn_item("default", NULL, s.tree);
  cr_assert_eq(cairn_manager_save(l.m, 1, NULL, NULL, NULL), CAIRN_INVALID);
  cr_assert_eq(cairn_manager_save_items(l.m, 1, NULL, 1, NULL, NULL),
               CAIRN_INVALID);
  cr_assert_eq(cairn_manager_save_items(l.m, 1, NULL, 0, NULL, NULL),
               CAIRN_INVALID);
  cr_assert_eq(cairn_manager_save_items(l.m, 1, &item, 1, NULL, NULL),
               CAIRN_INVALID);
  cr_assert_eq(cairn_manager_save_items(l.m, 1, &other, 1, NULL, NULL),
               CAIRN_INVALID);
  cr_assert_eq(cairn_manager_wait(l.m, -1, &err), CAIRN_OK, "%s", err.message);
  cr_assert_eq(entries_in(dir), 0);
  cr_assert_eq(lone_save(&l, 1, s.tree, &err), CAIRN_OK);
  cr_assert_eq(cairn_manager_restore(l.m, 1, NULL, NULL, NULL), CAIRN_INVALID);
  cr_assert_eq(cairn_manager_restore_items(l.m, 1, NULL, 1, NULL, NULL),
               CAIRN_INVALID);
  cr_assert_eq(cairn_manager_restore_items(l.m, 1, &item, 1, NULL, NULL),
               CAIRN_INVALID);
  cr_assert_eq(cairn_manager_restore_items(l.m, 1, &other, 1, NULL, NULL),
               CAIRN_INVALID);
  cr_assert_eq(cairn_tree_put_array(s.tree, NULL, NULL, NULL), CAIRN_INVALID);
  cr_assert_eq(cairn_tree_put_array(s.tree, "x", NULL, NULL), CAIRN_INVALID);
  cr_assert_eq(cairn_tree_put_int64(s.tree, "x", NULL, NULL), CAIRN_INVALID);
  cr_assert_eq(cairn_tree_put_string(s.tree, "x", NULL, 9, NULL),
               CAIRN_INVALID);
  cr_assert_eq(cairn_tree_put(s.tree, NULL, 1, NULL, NULL, NULL),
               CAIRN_INVALID);
}

Test(bad_input_calls, null_objects_are_refused) {
  cairn_manager_t *m;
  cairn_checkpointer_t *ck;
  cairn_comm_t *comm;
  cairn_step_t *step;
  cairn_tree_t *none = NULL;
  int64_t value = 0;
  cr_assert_eq(cairn_manager_open(NULL, l.comm, dir, NULL, &m, NULL),
               CAIRN_INVALID);
  cr_assert_eq(cairn_manager_open(l.rt, NULL, dir, NULL, &m, NULL),
               CAIRN_INVALID);
  cr_assert_eq(cairn_checkpointer_open(NULL, l.comm, NULL, &ck, NULL),
               CAIRN_INVALID);
  cr_assert_eq(cairn_checkpointer_open(l.rt, NULL, NULL, &ck, NULL),
               CAIRN_INVALID);
  cr_assert_eq(cairn_comm_self_open(NULL, &comm, NULL), CAIRN_INVALID);
  cr_assert_eq(cairn_step_open(l.rt, NULL, &step, NULL), CAIRN_INVALID);
  cr_assert_eq(cairn_step_open(NULL, dir, &step, NULL), CAIRN_INVALID);
  cr_assert_eq(cairn_manager_save(NULL, 1, s.tree, NULL, NULL), CAIRN_INVALID);
  cr_assert_eq(cairn_manager_restore(NULL, 1, s.tree, NULL, NULL),
               CAIRN_INVALID);
  cr_assert_eq(cairn_manager_wait(NULL, -1, NULL), CAIRN_INVALID);
  cr_assert_eq(cairn_manager_reload(NULL, NULL), CAIRN_INVALID);
  cr_assert_eq(cairn_manager_latest(NULL), -1);
  cr_assert_eq(cairn_tree_put_int64(none, "x", &value, NULL), CAIRN_INVALID);
  cr_assert_eq(cairn_tree_check(none, NULL), CAIRN_INVALID);
}

/* --- options of another release --- */

/* In no version was a struct that small: the number is something else. */
Test(bad_input_calls, sizes_that_no_version_had_are_refused) {
  cairn_checkpointer_opts_t co = {.size = 7};
  cairn_manager_opts_t mo = {.size = 7};
  cairn_manager_save_opts_t so = {.size = 7};
  cairn_restore_opts_t ro = {.size = 7};
  cairn_checkpointer_t *ck = NULL;
  cairn_manager_t *m = NULL;
  expect(cairn_manager_save(l.m, 1, s.tree, &so, &err), CAIRN_INVALID,
         "save options: size 7: ");
  expect(cairn_manager_restore(l.m, 1, s.tree, &ro, &err), CAIRN_INVALID,
         "restore options: size 7: ");
  expect(cairn_manager_open(l.rt, l.comm, dir, &mo, &m, &err), CAIRN_INVALID,
         "manager options: size 7: ");
  expect(cairn_checkpointer_open(l.rt, l.comm, &co, &ck, &err), CAIRN_INVALID,
         "checkpointer options: size 7: ");
  cr_assert_null(m);
  cr_assert_null(ck);
}

Test(bad_input_calls, sizes_larger_than_ours_are_fine) {
  struct {
    cairn_manager_opts_t ours;
    char theirs[64];
  } o = {.ours = {.size = sizeof(o), .max_to_keep = 1}};
  cr_assert_eq(lone_close(&l, NULL), CAIRN_OK);
  lone_open(&l, dir, &o.ours);
  cr_assert_eq(lone_save(&l, 1, s.tree, &err), CAIRN_OK);
}

/* --- nothing grows --- */

static int entries_of_self(const char *what) {
  char path[64];
  snprintf(path, sizeof(path), "/proc/self/%s", what);
  return entries_in(path);
}

static long resident_kib(void) {
  long pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (f == NULL || fscanf(f, "%*d %ld", &pages) != 1) pages = 0;
  if (f != NULL) fclose(f);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void not_grown_since(long before) {
#if defined(__SANITIZE_ADDRESS__) /* it keeps what was freed */
  (void)before;
#else
  cr_assert_lt(resident_kib() - before, 4096);
#endif
}

static void open_and_close(void) {
  lone_t x;
  lone_open(&x, dir, NULL);
  cr_assert_eq(lone_close(&x, NULL), CAIRN_OK);
}

/* cases.md 59 */
Test(bad_input_calls, thousand_opens_and_closes_leave_nothing, .timeout = 110) {
  for (int i = 0; i < 50; i++) open_and_close();
  int fds = entries_of_self("fd"), threads = entries_of_self("task");
  long before = resident_kib();
  for (int i = 0; i < 950; i++) open_and_close();
  cr_assert_eq(entries_of_self("fd"), fds);
  cr_assert_eq(entries_of_self("task"), threads);
  not_grown_since(before);
}

/* cases.md 35 */
Test(bad_input_calls, hundreds_of_saves_leave_nothing, .timeout = 110) {
  long before = 0;
  cr_assert_eq(lone_close(&l, NULL), CAIRN_OK);
  lone_open(&l, dir,
            &(cairn_manager_opts_t){.max_to_keep = 2,
                                    .checkpointer = {.not_durable = true}});
  int fds = 0;
  for (int i = 0; i < 300; i++) {
    state_fill(&s, i);
    cr_assert_eq(cairn_manager_save(l.m, i, s.tree, NULL, &err), CAIRN_OK);
    if (i != 100) continue;
    cr_assert_eq(cairn_manager_wait(l.m, -1, &err), CAIRN_OK);
    before = resident_kib();
    fds = entries_of_self("fd");
  }
  cr_assert_eq(cairn_manager_wait(l.m, -1, &err), CAIRN_OK);
  cr_assert_eq(entries_of_self("fd"), fds);
  not_grown_since(before);
  cr_assert_eq(entries_in(dir), 2);
}

/* cases.md 111 */
Test(bad_input_calls, few_descriptors_are_enough_for_many_arrays,
     .timeout = 110) {
  static float in[5000][8], out[5000][8];
  struct rlimit few = {.rlim_cur = 64, .rlim_max = 64};
  cairn_tree_t *t = tree_of_nothing(), *to = tree_of_nothing();
  for (int i = 0; i < 5000; i++) {
    char name[16];
    snprintf(name, sizeof(name), "w%d", i);
    for (int k = 0; k < 8; k++) in[i][k] = (float)(i + k);
    cairn_array_t a = {
        .dtype = CAIRN_F32, .rank = 1, .shape = {8}, .data = in[i]};
    cairn_tree_put_array(t, name, &a, &err);
    a.data = out[i];
    cairn_tree_put_array(to, name, &a, &err);
  }
  struct rlimit old;
  cr_assert_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
  few.rlim_max = old.rlim_max;
  cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
  cr_assert_eq(lone_save(&l, 1, t, &err), CAIRN_OK, "%s", err.message);
  cr_assert_eq(cairn_manager_restore(l.m, 1, to, NULL, &err), CAIRN_OK, "%s",
               err.message);
  cr_assert_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
  cr_assert_arr_eq(in, out, sizeof(in));
  cairn_tree_free(t);
  cairn_tree_free(to);
}

/* --- fork --- */

Test(bad_input_calls, children_of_a_fork_disturb_nothing) {
  for (int64_t step = 0; step < 30; step++) {
    state_fill(&s, (int)step);
    cr_assert_eq(cairn_manager_save(l.m, step, s.tree, NULL, &err), CAIRN_OK);
    pid_t pid = fork();
    if (pid == 0) {
      if (step % 2 == 0) _exit(0);
      execl("/bin/true", "true", (char *)NULL);
      _exit(1);
    }
    int status;
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_assert_eq(status, 0);
  }
  cr_assert_eq(cairn_manager_wait(l.m, -1, &err), CAIRN_OK, "%s", err.message);
  cr_assert_eq(entries_in(dir), 30);
}
