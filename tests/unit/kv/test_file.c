/* What is particular to files: what may lie about in a directory, names that a
 * file can have, modes, specs. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "stores.h"

static struct store files;

static void setup(void) {
  store_open(&files, FILES);
}

static void teardown(void) {
  store_close(&files);
}

TestSuite(file, .init = setup, .fini = teardown);

/* A path below the store's directory; good until the next but three. */
static const char *at(const char *name) {
  static char paths[4][256];
  static int i;
  char *p = paths[i++ % 4];
  snprintf(p, sizeof paths[0], "%s/%s", files.dir, name);
  return p;
}

static void make_file(const char *name, const char *text) {
  FILE *f = fopen(at(name), "w");
  cr_assert_not_null(f);
  fputs(text, f);
  fclose(f);
}

/* All that is in the store's directory, ls -A. */
static void expect_entries(const char *want) {
  char cmd[300], got[4096] = "";
  snprintf(cmd, sizeof cmd,
           "cd %s && find . -mindepth 1 | LC_ALL=C sort | tr '\\n' ' '",
           files.dir);
  FILE *p = popen(cmd, "r");
  size_t n = fread(got, 1, sizeof got - 1, p);
  got[n] = '\0';
  pclose(p);
  cr_assert_str_eq(got, want, "[%s], want [%s]", got, want);
}

/* --- what is no value --- */

Test(file, what_is_not_a_regular_file_is_missing) {
  cr_assert_eq(mkfifo(at("fifo"), 0666),
               0); /* opening it would wait for ever */
  cr_assert_eq(mkdir(at("dir"), 0777), 0);
  expect_value(&files, "fifo", "(missing)");
  expect_value(&files, "dir", "(missing)");
  expect_value(&files, "dir/x", "(missing)");
  expect_list(&files, "", "");
}

Test(file, temporaries_left_by_a_crash_are_not_seen) {
  cairn_error_t err = {0};
  put(&files, "a", "1");
  make_file("a.__lock", "half");
  make_file("a_0123456789abcdef.__lock", "half");
  expect_list(&files, "", "a:1");
  char *got = kv_call_list_dir(files.kv, "", &err);
  cr_assert_str_eq(got, "a:1");
  free(got);
  put(&files, "a", "22");
  expect_value(&files, "a", "22");
}

Test(file, links_to_files_are_read_and_links_to_directories_not_walked) {
  cairn_error_t err = {0};
  make_file("real", "text");
  cr_assert_eq(mkdir(at("d"), 0777), 0);
  make_file("d/x", "1");
  cr_assert_eq(symlink("real", at("link")), 0);
  cr_assert_eq(symlink("d", at("dirlink")), 0);
  cr_assert_eq(symlink("nowhere", at("dangling")), 0);
  cr_assert_eq(symlink("loop", at("loop")), 0);
  expect_value(&files, "link", "text");
  expect_value(&files, "dangling", "(missing)");
  expect_value(&files, "dirlink/x", "1");
  expect_list(&files, "", "d/x:1 link:4 real:4");
  expect_list(&files, "dirlink/", "dirlink/x:1");
  must(kv_call_remove_prefix(files.kv, "dirlink/", &err), &err);
  expect_list(&files, "", "d/x:1 link:4 real:4");
}

Test(file, remove_prefix_of_a_file_leaves_the_file) {
  cairn_error_t err = {0};
  put(&files, "a", "1");
  must(kv_call_remove_prefix(files.kv, "a/", &err), &err);
  expect_list(&files, "", "a:1");
}

Test(file, a_file_in_the_place_of_a_directory_is_a_clean_error) {
  cairn_error_t err = {0};
  put(&files, "a", "1");
  cr_assert_neq(kv_call_put(files.kv, "a/b", "2", &err), CAIRN_OK);
  cr_assert_not_null(strstr(err.message, "Not a directory"), "%s", err.message);
  cr_assert_not_null(strstr(err.message, "/a"));
  expect_entries("./a ");
  cr_assert_eq(mkdir(at("d"), 0777), 0);
  cairn_error_t err2 = {0};
  cr_assert_neq(kv_call_put(files.kv, "d", "2", &err2), CAIRN_OK);
  cr_assert_not_null(strstr(err2.message, "rename"), "%s", err2.message);
  expect_entries("./a ./d ");
}

/* --- keys --- */

Test(file, keys_that_no_file_can_have_are_refused) {
  static char long_name[257], long_path[5001];
  memset(long_name, 'n', 256);
  for (int i = 0; i < 5000; i++) long_path[i] = i % 100 == 99 ? '/' : 'p';
  const cairn_bytes_t bad[] = {
      cairn_bytes_str(""),         cairn_bytes_str("."),
      cairn_bytes_str(".."),       cairn_bytes_str("./a"),
      cairn_bytes_str("a/.."),     cairn_bytes_str("a/../b"),
      cairn_bytes_str("a//b"),     cairn_bytes_str("/a"),
      cairn_bytes_str("a/"),       cairn_bytes_str("a\\"),
      cairn_bytes_str("a\\..\\b"), cairn_bytes("a\0b", 3),
      cairn_bytes_str("x.__lock"), cairn_bytes_str("x.__lock/y"),
      cairn_bytes_str(".__lock"),  cairn_bytes_str(long_name),
      cairn_bytes_str(long_path),
  };
  struct iovec iov = {(void *)"1", 1};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    cairn_value_t v = {0};
    cairn_error_t err = {0};
    cr_assert_eq(kv_call_read(files.kv, bad[i], CAIRN_WHOLE, &v, NULL),
                 CAIRN_INVALID, "%zu", i);
    cr_assert_eq(kv_call_write(files.kv, bad[i], &iov, 1, NULL, NULL, &err),
                 CAIRN_INVALID, "%zu: %s", i, err.message);
    cr_assert_eq(kv_call_remove(files.kv, bad[i], NULL, NULL, NULL),
                 CAIRN_INVALID);
  }
  expect_entries("");
}

Test(file, unusual_keys_are_fine) {
  static char long_name[256];
  memset(long_name, 'n', 255);
  const char *good[] = {"a\\b",
                        "\x01",
                        "\x7f",
                        "a b",
                        "a+b",
                        "a%2Fb",
                        "~(1)!*'",
                        "\xf0\x9f\x8c\x8d",
                        "\xfe",
                        "...",
                        ".a",
                        "a?b#c&d<e>\"'",
                        ".well-known/acme",
                        "__lock",
                        "x.__lock_",
                        long_name};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    char size[300];
    put(&files, good[i], "v");
    expect_value(&files, good[i], "v");
    snprintf(size, sizeof size, "%s:1", good[i]);
    expect_list(&files, "", size);
    kv_call_remove(files.kv, cairn_bytes_str(good[i]), NULL, NULL, NULL);
  }
}

Test(file, a_name_without_room_for_the_lock_cannot_have_a_condition) {
  static char name[256];
  cairn_gen_t gen = {.n = 1, .b = {1}};
  cairn_write_opts_t o = {.if_equal = &gen};
  cairn_error_t err = {0};
  memset(name, 'n', 255);
  put(&files, name, "1");
  cr_assert_eq(
      kv_call_write(files.kv, cairn_bytes_str(name), NULL, 0, &o, NULL, &err),
      CAIRN_INVALID);
}

/* --- roots and specs --- */

static cairn_code_t open_and_list(const char *url, char **list,
                                  cairn_error_t *err) {
  cairn_kv_t *kv;
  cairn_code_t rc = kv_call_open(files.rt, url, &kv, err);
  if (rc != CAIRN_OK) return rc;
  *list = kv_call_list(kv, "", 0, err);
  kv_call_close(kv, NULL);
  return *list != NULL ? CAIRN_OK : err->code;
}

Test(file, an_absent_root_is_an_empty_store_and_a_file_is_an_error) {
  cairn_error_t err = {0};
  cairn_kv_t *kv;
  char *list = NULL;
  must(open_and_list(at("none"), &list, &err), &err);
  cr_assert_str_eq(list, "");
  free(list);
  put(&files, "file", "1");
  cr_assert_eq(open_and_list(at("file"), &list, &err), CAIRN_INVALID);
  cr_assert_not_null(strstr(err.message, at("file")), "%s", err.message);
  must(kv_call_open(files.rt, at("file"), &kv, NULL), NULL);
  cairn_value_t v = {0};
  cr_assert_eq(kv_call_read(kv, cairn_bytes_str("x"), CAIRN_WHOLE, &v, NULL),
               CAIRN_INVALID);
  must(kv_call_close(kv, NULL), NULL);
}

Test(file, names_of_one_directory) {
  char forms[5][512], *list = NULL;
  cairn_error_t err = {0};
  put(&files, "sub dir/k", "1");
  snprintf(forms[0], 512, "%s/sub dir", files.dir);
  snprintf(forms[1], 512, "%s/./x/..//sub dir/", files.dir);
  snprintf(forms[2], 512, "file://%s/sub%%20dir", files.dir);
  snprintf(forms[3], 512, "file://localhost%s/sub%%20dir/", files.dir);
  snprintf(forms[4], 512,
           "{\"driver\": \"file\", \"path\": \"%s/sub dir\", "
           "\"file_io_sync\": false, \"context\": {}}",
           files.dir);
  for (int i = 0; i < 5; i++) {
    must(open_and_list(forms[i], &list, &err), &err);
    cr_assert_str_eq(list, "k:1", "%s", forms[i]);
    free(list);
  }
  cr_assert_eq(chdir(files.dir), 0);
  must(open_and_list("sub dir", &list, &err), &err);
  cr_assert_str_eq(list, "k:1");
  free(list);
}

Test(file, specs_that_are_wrong_say_why) {
  static const struct {
    const char *url, *why;
  } bad[] = {
      {"", "empty"},
      {"gs://bucket/x", "known: file, memory"},
      {"S3://B", "known:"},
      {"file:rel", "//"},
      {"file://host/x", "file:///"},
      {"file:///a%zz", "% escape"},
      {"file:///a%2", "% escape"},
      {"file:///a%00b", "NUL"},
      {"file:///%ff", "UTF-8"},
      {"file:///a?x=1", "'?'"},
      {"file:///a#f", "'#'"},
      {"memory://|zip:", "'|'"},
      {"{", "store spec"},
      {"{}", "driver"},
      {"{\"driver\":7}", "driver"},
      {"{\"driver\":\"yt\"}", "known:"},
      {"{\"driver\":\"file\"}", "path"},
      {"{\"driver\":\"file\",\"path\":\"\"}", "path"},
      {"{\"driver\":\"file\",\"path\":7}", "path"},
      {"{\"driver\":\"file\",\"path\":\"/a\\u0000b\"}", "NUL"},
      {"{\"driver\":\"file\",\"path\":\"/a\",\"pth\":1}", "pth"},
      {"{\"driver\":\"file\",\"path\":\"/a\",\"file_io_sync\":3}",
       "file_io_sync"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    cairn_kv_t *kv;
    cairn_error_t err = {0};
    cr_assert_eq(kv_call_open(files.rt, bad[i].url, &kv, &err), CAIRN_INVALID,
                 "%s", bad[i].url);
    cr_assert_null(kv);
    cr_assert_not_null(strstr(err.message, bad[i].why), "%s: %s", bad[i].url,
                       err.message);
  }
}

/* --- modes --- */

static mode_t mode_of(const char *name) {
  struct stat st;
  cr_assert_eq(stat(at(name), &st), 0, "%s", name);
  return st.st_mode & 07777;
}

Test(file, modes_follow_the_umask_and_the_set_gid_bit) {
  cairn_upload_t *u;
  cairn_error_t err = {0};
  cairn_write_opts_t create = {.if_equal = &CAIRN_GEN_ABSENT};
  cr_assert_eq(chmod(files.dir, 02777), 0);
  umask(0007);
  put(&files, "d/a", "1");
  cr_assert_eq(mode_of("d/a"), 0660);
  cr_assert_eq(mode_of("d"), 02770);
  umask(0022);
  must(kv_call_write(files.kv, cairn_bytes_str("e/b"), NULL, 0, &create, NULL,
                     &err),
       &err);
  must(kv_call_upload(files.kv, "e/c", NULL, &u, &err), &err);
  must(kv_call_commit(files.kv, u, &err), &err);
  cr_assert_eq(mode_of("e/b"), 0644);
  cr_assert_eq(mode_of("e/c"), 0644);
  cr_assert_eq(mode_of("e"), 02755);
}

/* --- a full device --- */

Test(file, a_full_device_is_no_space_and_nothing_is_left) {
  if (geteuid() != 0 || mount("tmpfs", files.dir, "tmpfs", 0, "size=4m") != 0)
    cr_skip_test("needs the right to mount a tmpfs");
  size_t n = 12 << 20; /* a block, and one that has no room */
  char *data = calloc(1, n);
  struct iovec iov = {data, n};
  cairn_error_t err = {0}, err2 = {0}, err3 = {0};
  cairn_upload_t *u;
  cr_assert_eq(kv_call_write(files.kv, cairn_bytes_str("d/big"), &iov, 1, NULL,
                             NULL, &err),
               CAIRN_NO_SPACE);
  cr_assert_not_null(strstr(err.message, "No space left"), "%s", err.message);
  cr_assert_not_null(strstr(err.message, "d/big"));
  must(kv_call_upload(files.kv, "d/up", NULL, &u, &err2), &err2);
  memset(data, 'x', n - 1);
  cr_assert_eq(kv_call_part(files.kv, u, 0, data, NULL), CAIRN_NO_SPACE);
  cr_assert_eq(kv_call_commit(files.kv, u, &err2), CAIRN_NO_SPACE);
  expect_entries("./d ");
  must(kv_call_put(files.kv, "d/small", "1", &err3), &err3);
  free(data);
  umount2(files.dir, MNT_DETACH);
}
