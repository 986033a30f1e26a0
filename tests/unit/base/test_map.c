/* The hash map, against a plain array that cannot be wrong. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"

static cairn_bytes_t key_of(int i, char space[16]) {
  return cairn_bytes(space, (size_t)snprintf(space, 16, "k%d", i));
}

Test(map, empty_map_has_nothing) {
  cairn__map_t m = {0};
  cr_expect_null(cairn__map_get(&m, cairn_bytes_str("a")));
  cr_expect_null(cairn__map_del(&m, cairn_bytes_str("a")));
  cairn__map_reset(&m, NULL);
}

Test(map, replacing_gives_the_old_value) {
  cairn__map_t m = {0};
  int a, b;
  void *old = &a;
  char key[] = "key";
  cr_assert(cairn__map_set(&m, cairn_bytes_str(key), &a, &old));
  cr_expect_null(old);
  key[0] = '!'; /* the key was copied */
  cr_assert(cairn__map_set(&m, cairn_bytes_str("key"), &b, &old));
  cr_expect_eq(old, &a);
  cr_expect_eq(m.n, 1u);
  cr_expect_eq(cairn__map_get(&m, cairn_bytes_str("key")), &b);
  cairn__map_reset(&m, NULL);
  cr_expect_eq(m.n, 0u);
}

Test(map, empty_key_and_keys_with_nul_are_keys) {
  cairn__map_t m = {0};
  int a, b, c;
  cr_assert(cairn__map_set(&m, cairn_bytes(NULL, 0), &a, NULL));
  cr_assert(cairn__map_set(&m, cairn_bytes("x\0y", 3), &b, NULL));
  cr_assert(cairn__map_set(&m, cairn_bytes("x\0z", 3), &c, NULL));
  cr_expect_eq(cairn__map_get(&m, cairn_bytes("", 0)), &a);
  cr_expect_eq(cairn__map_get(&m, cairn_bytes("x\0y", 3)), &b);
  cr_expect_null(cairn__map_get(&m, cairn_bytes("x", 1)));
  cairn__map_reset(&m, NULL);
}

/* A long random walk of inserts and deletes; deleting must never lose the rest
 * of a run of neighbours. */
Test(map, random_walk_agrees_with_an_array) {
  enum { KEYS = 700 };
  static void *want[KEYS];
  cairn__map_t m = {0};
  char space[16];
  size_t live = 0;
  uint32_t x = 12345;
  for (int step = 0; step < 60000; step++) {
    x = x * 1664525 + 1013904223;
    int i = (int)((x >> 8) % KEYS);
    if ((x >> 30) < 2) {
      void *old;
      cr_assert(cairn__map_set(&m, key_of(i, space), &want[step % KEYS], &old));
      cr_assert_eq(old, want[i]);
      live += want[i] == NULL;
      want[i] = &want[step % KEYS];
    } else {
      cr_assert_eq(cairn__map_del(&m, key_of(i, space)), want[i]);
      live -= want[i] != NULL;
      want[i] = NULL;
    }
    cr_assert_eq(m.n, live);
    if (step % 1000 != 0) continue;
    for (int k = 0; k < KEYS; k++)
      cr_assert_eq(cairn__map_get(&m, key_of(k, space)), want[k]);
  }
  cairn__map_reset(&m, NULL);
}

static bool count_until_3(void *arg, cairn_bytes_t key, void *value) {
  int *n = arg;
  cr_assert_eq(key.p[0], 'k');
  cr_assert_not_null(value);
  return ++*n != 3;
}

Test(map, each_stops_when_told) {
  cairn__map_t m = {0};
  char space[16];
  int n = 0;
  for (int i = 0; i < 10; i++)
    cr_assert(cairn__map_set(&m, key_of(i, space), &n, NULL));
  cairn__map_each(&m, count_until_3, &n);
  cr_expect_eq(n, 3);
  n = 100;
  cairn__map_each(&m, count_until_3, &n);
  cr_expect_eq(n, 110);
  cairn__map_reset(&m, NULL);
}

Test(map, reset_drops_values) {
  cairn__map_t m = {0};
  char space[16];
  for (int i = 0; i < 100; i++)
    cr_assert(cairn__map_set(&m, key_of(i, space), malloc(8), NULL));
  cairn__map_reset(&m, free); /* a leak check sees what is not dropped */
  cr_expect_null(m.slots);
}
