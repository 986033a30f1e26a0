/* What is made durable, and when (stores.md 3.3). */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stores.h"
#include "syscalls.h"

static struct store files;

static void setup(void) {
  store_open(&files, FILES);
  syscalls_reset();
}

static void teardown(void) {
  store_close(&files);
}

TestSuite(file_sync, .init = setup, .fini = teardown);

static const char *at(const char *name) {
  static char paths[4][256];
  static int i;
  char *p = paths[i++ % 4];
  snprintf(p, sizeof paths[0], "%s%s%s", files.dir, *name != '\0' ? "/" : "",
           name);
  return p;
}

static const cairn_write_opts_t deferred = {.defer_sync = true};

static void put_deferred(const char *key) {
  cairn_error_t err = {0};
  struct iovec iov = {(void *)"1", 1};
  must(kv_call_write(files.kv, cairn_bytes_str(key), &iov, 1, &deferred, NULL,
                     &err),
       &err);
}

/* Positions in what was synced; -1: not at all. */
static long place(const char *path) {
  char line[300];
  const char *all = syscalls_synced();
  snprintf(line, sizeof line, "%s\n", path);
  for (const char *p = all; *p != '\0'; p = strchr(p, '\n') + 1)
    if (strncmp(p, line, strlen(line)) == 0) return p - all;
  return -1;
}

Test(file_sync, a_write_syncs_file_then_directory_then_new_parents) {
  put(&files, "a/b/x", "1");
  const char *all = syscalls_synced();
  cr_assert_not_null(strstr(all, "a/b/x_"), "%s", all); /* the temporary */
  cr_assert_lt(strstr(all, "/a/b/x_") - all, place(at("a/b")));
  cr_assert_lt(place(at("a/b")), place(at("a")));
  cr_assert_lt(place(at("a")), place(at("")));
  cr_assert_geq(place(at("a/b")), 0);
}

Test(file_sync, parents_are_synced_once) {
  put(&files, "a/b/x", "1");
  syscalls_reset();
  put(&files, "a/b/y", "1");
  cr_assert_eq(syscalls_count(at("a/b")), 1);
  cr_assert_eq(syscalls_count(at("a")), 0, "%s", syscalls_synced());
  cr_assert_eq(syscalls_count(at("")), 0);
}

Test(file_sync, a_write_makes_parents_durable_that_another_store_made) {
  cairn_kv_t *other;
  cairn_error_t err = {0};
  must(kv_call_open(files.rt, at("a/b"), &other, &err), &err);
  put_deferred("a/b/c/x");
  cr_assert_str_eq(syscalls_synced(), "");
  must(kv_call_put(other, "y", "1", &err), &err);
  cr_assert_eq(syscalls_count(at("a/b")), 1);
  cr_assert_eq(syscalls_count(at("a")), 1);
  cr_assert_eq(syscalls_count(at("")), 1);
  must(kv_call_close(other, &err), &err);
}

Test(file_sync, deferred_writes_sync_nothing_before_sync_and_each_once_then) {
  cairn_error_t err = {0};
  put_deferred("t/a/x");
  put_deferred("t/a/y");
  put_deferred("t/z");
  put_deferred("u/other");
  cr_assert_str_eq(syscalls_synced(), "");
  must(kv_call_sync(files.kv, "t/", &err), &err);
  const char *each[] = {"t/a/x", "t/a/y", "t/z", "t/a", "t", ""};
  for (int i = 0; i < 6; i++)
    cr_assert_eq(syscalls_count(at(each[i])), 1, "%s: %s", each[i],
                 syscalls_synced());
  cr_assert_eq(syscalls_count(at("u/other")), 0);
  for (int i = 0; i < 3; i++) /* files before directories */
    cr_assert_lt(place(at(each[i])), place(at("t/a")));
  cr_assert_lt(place(at("t/a")), place(at("t")));
  cr_assert_lt(place(at("t")), place(at("")));
  syscalls_reset();
  must(kv_call_sync(files.kv, "t/", &err), &err);
  cr_assert_str_eq(syscalls_synced(), "");
  must(kv_call_sync(files.kv, "", &err), &err);
  cr_assert_eq(syscalls_count(at("u/other")), 1);
}

Test(file_sync, a_deferred_removal_syncs_the_directory_later) {
  cairn_error_t err = {0};
  put(&files, "t/x", "1");
  syscalls_reset();
  must(kv_call_remove(files.kv, cairn_bytes_str("t/x"), &deferred, NULL, &err),
       &err);
  cr_assert_str_eq(syscalls_synced(), "");
  must(kv_call_sync(files.kv, "", &err), &err);
  cr_assert_eq(syscalls_count(at("t")), 1);
}

Test(file_sync, a_removal_syncs_the_directory) {
  cairn_error_t err = {0};
  put(&files, "t/x", "1");
  syscalls_reset();
  must(kv_call_remove(files.kv, cairn_bytes_str("t/x"), NULL, NULL, &err),
       &err);
  cr_assert_eq(syscalls_count(at("t")), 1);
}

Test(file_sync, what_was_deferred_follows_a_rename) {
  cairn_error_t err = {0};
  put_deferred("7.tmp/a/x");
  must(kv_call_rename(files.kv, "7.tmp/", "7/", &err), &err);
  cr_assert_geq(syscalls_count(at("")), 1, "%s", syscalls_synced());
  syscalls_reset();
  must(kv_call_sync(files.kv, "7/", &err), &err);
  cr_assert_eq(syscalls_count(at("7/a/x")), 1);
  cr_assert_eq(syscalls_count(at("7/a")), 1);
  cr_assert_eq(syscalls_count(at("7")), 1, "a's name was not durable");
}

Test(file_sync, a_rename_syncs_both_parents) {
  cairn_error_t err = {0};
  put(&files, "from/7/x", "1");
  put(&files, "to/y", "1");
  syscalls_reset();
  must(kv_call_rename(files.kv, "from/7/", "to/7/", &err), &err);
  cr_assert_geq(syscalls_count(at("from")), 1);
  cr_assert_geq(syscalls_count(at("to")), 1);
}

Test(file_sync, remove_prefix_syncs_the_parent) {
  cairn_error_t err = {0};
  put(&files, "t/a/x", "1");
  syscalls_reset();
  must(kv_call_remove_prefix(files.kv, "t/a/", &err), &err);
  cr_assert_eq(syscalls_count(at("t")), 1);
}

Test(file_sync, without_file_io_sync_nothing_is_synced) {
  cairn_error_t err = {0};
  cairn_kv_t *kv;
  char spec[256];
  snprintf(spec, sizeof spec,
           "{\"driver\":\"file\",\"path\":\"%s\",\"file_io_sync\":false}",
           files.dir);
  must(kv_call_open(files.rt, spec, &kv, &err), &err);
  cr_assert(!(cairn_kv_caps(kv) & CAIRN_KV_DURABLE_ACK));
  must(kv_call_put(kv, "a/x", "1", &err), &err);
  must(kv_call_sync(kv, "", &err), &err);
  cr_assert_str_eq(syscalls_synced(), "");
  must(kv_call_close(kv, &err), &err);
}

/* --- failures --- */

Test(file_sync, a_failed_fdatasync_leaves_old_value_and_no_temporary) {
  cairn_error_t err = {0};
  put(&files, "x", "old");
  syscalls_reset();
  syscalls_fail(".__lock");
  cr_assert_eq(kv_call_put(files.kv, "x", "new", &err), CAIRN_IO);
  cr_assert_not_null(strstr(err.message, "fdatasync"), "%s", err.message);
  expect_value(&files, "x", "old");
  cr_assert_eq(rmdir(files.dir), -1);
  cairn_written_t w = {0};
  must(kv_call_remove(files.kv, cairn_bytes_str("x"), NULL, &w, &err), NULL);
  cr_assert_eq(rmdir(files.dir), 0, "a temporary was left");
}

Test(file_sync, a_failed_sync_is_not_healed_by_another) {
  cairn_error_t err = {0}, again = {0};
  put_deferred("t/x");
  put_deferred("u/y");
  syscalls_fail("t/x");
  cr_assert_eq(kv_call_sync(files.kv, "t/", &err), CAIRN_IO);
  cr_assert_eq(kv_call_sync(files.kv, "t/", &again), CAIRN_IO);
  must(kv_call_sync(files.kv, "u/", NULL), NULL);
  put_deferred("t/x"); /* written anew: what was lost does not matter now */
  must(kv_call_sync(files.kv, "t/", &err), NULL);
}

Test(file_sync, a_failed_directory_sync_fails_the_write) {
  cairn_error_t err = {0};
  put(&files, "t/x", "1");
  syscalls_fail("/t");
  cr_assert_eq(kv_call_put(files.kv, "t/x", "2", &err), CAIRN_IO);
  cr_assert_not_null(strstr(err.message, "fsync"), "%s", err.message);
}
