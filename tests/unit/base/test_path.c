/* Local paths, as text. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"

static void expect_path(char *have, const char *want) {
  cr_expect_str_eq(have, want);
  free(have);
}

Test(path, join_uses_one_slash) {
  expect_path(cairn__path_join("a", "b"), "a/b");
  expect_path(cairn__path_join("a/", "/b"), "a/b");
  expect_path(cairn__path_join("a//", "//b/"), "a/b/");
  expect_path(cairn__path_join("/", "b"), "/b");
  expect_path(cairn__path_join("", "b"), "b");
  expect_path(cairn__path_join("a", ""), "a");
  expect_path(cairn__path_join("/", ""), "/");
  expect_path(cairn__path_join("", ""), "");
}

Test(path, absolute_resolves_dots_as_text) {
  expect_path(cairn__path_absolute("/"), "/");
  expect_path(cairn__path_absolute("/a//b/./c/"), "/a/b/c");
  expect_path(cairn__path_absolute("/a/../b"), "/b");
  expect_path(cairn__path_absolute("/../../a"), "/a");
  expect_path(cairn__path_absolute("/a/b/../../.."), "/");
  expect_path(cairn__path_absolute("/a/...//..b"), "/a/.../..b");
}

Test(path, relative_starts_at_the_working_directory) {
  cr_assert_eq(chdir("/usr"), 0);
  expect_path(cairn__path_absolute("a/b"), "/usr/a/b");
  expect_path(cairn__path_absolute("."), "/usr");
  expect_path(cairn__path_absolute("../x"), "/x");
  expect_path(cairn__path_absolute(""), "/usr");
}

Test(path, base_follows_the_last_slash) {
  cr_expect_eq(cairn__path_base(cairn_bytes_str("a/b/c")), 4u);
  cr_expect_eq(cairn__path_base(cairn_bytes_str("abc")), 0u);
  cr_expect_eq(cairn__path_base(cairn_bytes_str("a/")), 2u);
  cr_expect_eq(cairn__path_base(cairn_bytes(NULL, 0)), 0u);
}
