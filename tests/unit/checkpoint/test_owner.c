/* Two jobs, one step: who may write, who is dead, what is swept. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "checkpoint/layout.h"
#include "checkpoint/owner.h"
#include "checkpoint/owner_record.h"
#include "loop/loop.h"
#include "support/kv_call.h"

#define TMP "7" CAIRN__TMP_SUFFIX
#define OWNER TMP "/" CAIRN__OWNER_FILE
#define ID_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ID_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static cairn_runtime_t *rt;
static cairn_kv_t *kv;
static const char *id;

static void set_up(void) {
  cr_assert(cairn__owner_begin(ID_A) && cairn__owner_begin(ID_B));
  cr_assert_eq(cairn_runtime_open(NULL, &rt, NULL), CAIRN_OK);
  cr_assert_eq(kv_call_open(rt, "memory://owner/", &kv, NULL), CAIRN_OK);
}

static void tear_down(void) {
  kv_call_close(kv, NULL);
  cairn_runtime_close(rt, NULL);
  cairn__owner_end(ID_A);
  cairn__owner_end(ID_B);
}

TestSuite(owner, .init = set_up, .fini = tear_down);

static cairn_future_t *do_claim(void *arg) {
  (void)arg;
  return cairn__owner_claim(kv, TMP, id);
}
static cairn_future_t *do_check(void *arg) {
  (void)arg;
  return cairn__owner_check(kv, TMP, id, false);
}
static cairn_future_t *do_beat(void *arg) {
  (void)arg;
  return cairn__owner_beat(kv, TMP, id);
}
static char dropped[CAIRN__OWNER_NAME]; /* what the directory is called */
static cairn_future_t *do_drop(void *arg) {
  (void)arg;
  strcpy(dropped, TMP);
  return cairn__owner_drop(kv, dropped, id);
}
static cairn_future_t *do_discard(void *arg) {
  (void)arg;
  return cairn__owner_discard(kv, TMP, id);
}
static cairn_future_t *do_sweep(void *arg) {
  (void)arg;
  return cairn__owner_sweep(kv);
}

static cairn_code_t as(const char *who, cairn__start_fn fn,
                       cairn_error_t *err) {
  id = who;
  return cairn__call(rt, fn, NULL, -1, err);
}

static char *keys(void) {
  char *list = kv_call_list(kv, "", 0, NULL);
  cr_assert_not_null(list);
  return list;
}

static void put(const char *key, const char *text) {
  cr_assert_eq(kv_call_put(kv, key, text, NULL), CAIRN_OK);
}

/* The record of a process that has ended: a child's, waited for. */
static void put_dead_owner(const char *key) {
  cairn__process_t self;
  char text[512];
  pid_t pid = fork();
  if (pid == 0) _exit(0);
  waitpid(pid, NULL, 0);
  cairn__process_self(&self);
  snprintf(text, sizeof(text),
           "{\"cairn_owner\":1,\"id\":\"" ID_B
           "\",\"host\":\"h\",\"place\":"
           "\"%016llx\",\"pid\":%d,\"start\":1,\"beat_ns\":%lld}",
           (unsigned long long)self.place, (int)pid,
           (long long)cairn__wall_ns());
  put(key, text);
}

Test(owner, claims_a_free_name_and_gives_it_up) {
  cr_assert_eq(as(ID_A, do_claim, NULL), CAIRN_OK);
  cr_assert_eq(as(ID_A, do_check, NULL), CAIRN_OK);
  cr_assert_eq(as(ID_A, do_drop, NULL), CAIRN_OK);
  char *list = keys();
  cr_assert_str_eq(list, "");
  free(list);
}

/* So that a sweep knows whose it was, should we be killed now. */
Test(owner, gives_up_under_a_name_of_its_own) {
  char file[CAIRN__OWNER_NAME + 16];
  cr_assert_eq(as(ID_A, do_claim, NULL), CAIRN_OK);
  put(TMP "/default/x", "x");
  cr_assert_eq(as(ID_A, do_drop, NULL), CAIRN_OK);
  cr_assert_not_null(strstr(dropped, TMP "-cairn-"), "%s", dropped);
  snprintf(file, sizeof(file), "%s/default/x:1", dropped);
  char *list = keys();
  cr_assert_str_eq(list, file);
  free(list);
}

Test(owner, discards_its_own_directory_but_not_anothers) {
  cr_assert_eq(as(ID_A, do_claim, NULL), CAIRN_OK);
  cr_assert_eq(as(ID_B, do_discard, NULL), CAIRN_OK);
  cr_assert_eq(as(ID_A, do_check, NULL), CAIRN_OK);
  cr_assert_eq(as(ID_A, do_discard, NULL), CAIRN_OK);
  char *list = keys();
  cr_assert_str_eq(list, "");
  free(list);
  cr_assert_eq(as(ID_A, do_discard, NULL), CAIRN_OK, "gone is done");
}

Test(owner, of_a_live_process_keeps_others_out) {
  cairn_error_t err = {0};
  char pid[32];
  cr_assert_eq(as(ID_A, do_claim, NULL), CAIRN_OK);
  cr_assert_eq(as(ID_B, do_claim, &err), CAIRN_BUSY);
  snprintf(pid, sizeof(pid), "process %d", (int)getpid());
  cr_assert_not_null(strstr(err.message, pid), "%s", err.message);
  cr_assert_eq(as(ID_A, do_check, NULL), CAIRN_OK);
  cr_assert_eq(as(ID_B, do_check, NULL), CAIRN_BUSY);
}

Test(owner, that_is_dead_is_replaced_and_its_files_go) {
  put_dead_owner(OWNER);
  put(TMP "/default/d/00", "old");
  cr_assert_eq(as(ID_A, do_claim, NULL), CAIRN_OK);
  cr_assert_null(kv_call_get(kv, TMP "/default/d/00"));
  char *list = keys();
  cr_assert_null(strstr(list, "stale"), "%s", list);
  cr_assert_null(strstr(list, " "), "only the owner file: %s", list);
  free(list);
}

/* Not ours, so not deleted: Orbax's, or junk. */
Test(owner, leftovers_without_an_owner_file_are_moved_aside) {
  put(TMP "/junk", "x");
  cr_assert_eq(as(ID_A, do_claim, NULL), CAIRN_OK);
  cr_assert_eq(as(ID_A, do_check, NULL), CAIRN_OK);
  cr_assert_null(kv_call_get(kv, TMP "/junk"));
  char *list = keys();
  cr_assert_not_null(strstr(list, "/junk:1"), "%s", list);
  free(list);
}

Test(owner, on_another_host_lives_as_long_as_its_beats) {
  cairn__owner_t o = {.process = {.place = 1, .pid = 1, .start = 1}};
  o.beat_ns = cairn__wall_ns() - INT64_C(60) * 1000000000;
  cr_assert(cairn__owner_alive(&o));
  o.beat_ns = cairn__wall_ns() - INT64_C(600) * 1000000000;
  cr_assert_not(cairn__owner_alive(&o));
}

Test(owner, with_a_recycled_process_number_is_dead) {
  cairn__owner_t o = {0};
  strcpy(o.id, ID_A);
  cairn__process_self(&o.process);
  cr_assert(cairn__owner_alive(&o));
  o.process.start++;
  cr_assert_not(cairn__owner_alive(&o));
}

/* A save that ended and could not clean up; the process goes on. */
Test(owner, in_this_process_is_dead_once_it_has_ended) {
  cr_assert_eq(as(ID_A, do_claim, NULL), CAIRN_OK);
  cr_assert_eq(as(ID_B, do_claim, NULL), CAIRN_BUSY);
  cairn__owner_end(ID_A);
  cr_assert_eq(as(ID_B, do_claim, NULL), CAIRN_OK);
  cr_assert_eq(as(ID_A, do_check, NULL), CAIRN_BUSY);
}

/* As a killed job is where the first process of a container does not reap. */
Test(owner, that_ended_but_was_not_waited_for_is_dead) {
  cairn__owner_t o = {0};
  int fds[2];
  cr_assert_eq(pipe(fds), 0);
  pid_t child = fork();
  if (child == 0) {
    cairn__process_self(&o.process);
    _exit(write(fds[1], &o.process, sizeof(o.process)) != sizeof(o.process));
  }
  siginfo_t info;
  cr_assert_eq(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
  cr_assert_eq(read(fds[0], &o.process, sizeof(o.process)), sizeof(o.process));
  cr_assert_eq(o.process.pid, child);
  cr_assert_neq(o.process.start, 0);
  cr_assert_not(cairn__owner_alive(&o));
  cr_assert_eq(waitpid(child, NULL, 0), child);
}

Test(owner, directory_that_was_moved_away_is_noticed) {
  cairn_error_t err = {0};
  cr_assert_eq(as(ID_A, do_claim, NULL), CAIRN_OK);
  cr_assert_eq(kv_call_rename(kv, TMP "/", "elsewhere/", NULL), CAIRN_OK);
  put(TMP "/default/d/00", "late write");
  cr_assert_eq(as(ID_A, do_drop, &err), CAIRN_NOT_FOUND);
  cr_assert_not_null(strstr(err.message, "moved"), "%s", err.message);
}

/* Or a step without what was in it would be committed. */
Test(owner, directory_that_was_moved_away_is_not_made_again_by_a_beat) {
  cr_assert_eq(as(ID_A, do_claim, NULL), CAIRN_OK);
  cr_assert_eq(as(ID_A, do_beat, NULL), CAIRN_OK);
  cr_assert_eq(as(ID_B, do_beat, NULL), CAIRN_BUSY);
  cr_assert_eq(kv_call_rename(kv, TMP "/", "elsewhere/", NULL), CAIRN_OK);
  cr_assert_eq(as(ID_A, do_beat, NULL), CAIRN_NOT_FOUND);
  cr_assert_null(kv_call_get(kv, OWNER));
}

Test(owner, sweep_removes_only_what_is_provably_dead_and_ours) {
  put_dead_owner("8" CAIRN__TMP_SUFFIX "/" CAIRN__OWNER_FILE);
  put("8" CAIRN__TMP_SUFFIX "/default/x", "x");
  put(CAIRN__TRASH_PREFIX "3-0011/default/x", "x");
  put("9" CAIRN__TMP_SUFFIX "/x", "of someone else");
  put("10" CAIRN__TMP_SUFFIX "-1700000000000000/x", "of an old release");
  put("notes/x", "x");
  put("6/default/x", "x");
  cr_assert_eq(as(ID_A, do_claim, NULL), CAIRN_OK);
  cr_assert_eq(as(ID_B, do_sweep, NULL), CAIRN_OK);
  char *list = keys();
  cr_assert_null(strstr(list, "8" CAIRN__TMP_SUFFIX), "%s", list);
  cr_assert_null(strstr(list, CAIRN__TRASH_PREFIX), "%s", list);
  cr_assert_not_null(strstr(list, "9" CAIRN__TMP_SUFFIX "/x"), "%s", list);
  cr_assert_not_null(strstr(list, "10" CAIRN__TMP_SUFFIX "-17"), "%s", list);
  cr_assert_not_null(strstr(list, "notes/x"), "%s", list);
  cr_assert_not_null(strstr(list, "6/default/x"), "%s", list);
  cr_assert_not_null(strstr(list, OWNER), "%s", list);
  free(list);
}

Test(owner, half_made_directory_tells_its_maker_by_name) {
  char suffix[128], name[256];
  cairn__process_t self;
  cairn__owner_staging_suffix(ID_A, suffix, sizeof(suffix));
  snprintf(name, sizeof(name), TMP "%s/", suffix);
  cr_assert_not(cairn__owner_staging_is_dead(cairn_bytes_str(name)));
  cairn__owner_end(ID_A);
  cr_assert(cairn__owner_staging_is_dead(cairn_bytes_str(name)));
  cairn__process_self(&self);
  snprintf(name, sizeof(name), TMP "-cairn-%016llx-%d-%d-00000000/",
           (unsigned long long)self.place, (int)self.pid, 1);
  cr_assert(cairn__owner_staging_is_dead(cairn_bytes_str(name)));
  cr_assert_not(cairn__owner_staging_is_dead(cairn_bytes_str(TMP "/")));
}
