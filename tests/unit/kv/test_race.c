/* Several writers: threads with runtimes of their own, and many calls at once.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "loop/loop.h"
#include "stores.h"

enum { RACERS = 4, KEYS = 25, TURNS = 40 };

struct racer {
  struct store store;
  pthread_t thread;
  int id, won;
  bool won_key[KEYS];
};

static void race(struct store *s, void *(*run)(void *), struct racer *r) {
  for (int i = 0; i < RACERS; i++) {
    r[i] = (struct racer){.id = i};
    store_open_again(&r[i].store, s);
  }
  for (int i = 0; i < RACERS; i++)
    cr_assert_eq(pthread_create(&r[i].thread, NULL, run, &r[i]), 0);
  for (int i = 0; i < RACERS; i++) {
    cairn_error_t err = {0};
    pthread_join(r[i].thread, NULL);
    must(kv_call_close(r[i].store.kv, &err), &err);
    if (r[i].store.base != NULL)
      must(kv_call_close(r[i].store.base, &err), &err);
    must(cairn_runtime_close(r[i].store.rt, &err), &err);
  }
}

static void *create_all(void *arg) {
  struct racer *r = arg;
  cairn_write_opts_t o = {.if_equal = &CAIRN_GEN_ABSENT};
  for (int k = 0; k < KEYS; k++) {
    char name[16], text[16];
    cairn_written_t w = {0};
    cairn_error_t err = {0};
    snprintf(name, sizeof name, "d/%d", k);
    struct iovec iov = {text, (size_t)snprintf(text, sizeof text, "%d", r->id)};
    must(kv_call_write(r->store.kv, cairn_bytes_str(name), &iov, 1, &o, &w,
                       &err),
         &err);
    r->won_key[k] = w.condition_met;
  }
  return NULL;
}

STORE_TEST(of_many_creators_exactly_one_wins) {
  struct racer r[RACERS];
  race(s, create_all, r);
  for (int k = 0; k < KEYS; k++) {
    char name[16], winner[16] = "nobody";
    int winners = 0;
    for (int i = 0; i < RACERS; i++) {
      if (!r[i].won_key[k]) continue;
      winners++;
      snprintf(winner, sizeof winner, "%d", i);
    }
    snprintf(name, sizeof name, "d/%d", k);
    cr_assert_eq(winners, 1, "key %d has %d", k, winners);
    expect_value(s, name, winner);
  }
}

/* Adds one TURNS times, each time under the condition that nobody else did. */
static void *count_up(void *arg) {
  struct racer *r = arg;
  cairn_kv_t *kv = r->store.kv;
  while (r->won < TURNS) {
    char text[16];
    cairn_value_t v = {0};
    cairn_written_t w = {0};
    cairn_error_t err = {0};
    must(kv_call_read(kv, cairn_bytes_str("n"), CAIRN_WHOLE, &v, &err), &err);
    cr_assert_lt(v.data.n, sizeof text);
    memcpy(text, v.data.p, v.data.n);
    text[v.data.n] = '\0';
    cairn_write_opts_t o = {.if_equal = &v.gen};
    struct iovec iov = {
        text, (size_t)snprintf(text, sizeof text, "%d", atoi(text) + 1)};
    must(kv_call_write(kv, cairn_bytes_str("n"), &iov, 1, &o, &w, &err), &err);
    cairn_value_reset(&v);
    r->won += w.condition_met;
  }
  return NULL;
}

STORE_TEST(no_conditional_write_is_lost) {
  struct racer r[RACERS];
  char want[16];
  put(s, "n", "0");
  race(s, count_up, r);
  snprintf(want, sizeof want, "%d", RACERS * TURNS);
  expect_value(s, "n", want);
  expect_list(s, "", "n:3");
}

/* --- many at once --- */

enum { MANY = 1000 };

static cairn_future_t *write_many(void *arg) {
  struct store *s = arg;
  static cairn_future_t *fs[MANY];
  cairn_write_opts_t o = {.defer_sync = true};
  for (int i = 0; i < MANY; i++) {
    char name[32];
    struct iovec iov = {(void *)"value", 5}; /* gone when the call returns */
    snprintf(name, sizeof name, "m/%d/%03d", i % 10, i);
    fs[i] = cairn_kv_write(s->kv, cairn_bytes_str(name), &iov, 1, &o, NULL);
  }
  return cairn_all_take(s->rt, fs, MANY);
}

STORE_TEST(a_thousand_writes_at_once) {
  cairn_error_t err = {0};
  must(cairn__call(s->rt, write_many, s, -1, &err), &err);
  must(kv_call_sync(s->kv, "m/", &err), &err);
  char *list = kv_call_list(s->kv, "m/", 0, &err);
  int n = 0;
  for (const char *p = list; (p = strstr(p, ":5")) != NULL; p += 2) n++;
  cr_assert_eq(n, MANY);
  free(list);
  expect_value(s, "m/9/999", "value");
}

/* --- the lock --- */

struct pending {
  cairn_kv_t *kv;
  cairn_gen_t gen;
  cairn_written_t out;
  cairn_future_t *write;
};

static cairn_future_t *write_locked(void *arg) {
  struct pending *p = arg;
  cairn_write_opts_t o = {.if_equal = &p->gen};
  struct iovec iov = {(void *)"two", 3};
  p->write = cairn_kv_write(p->kv, cairn_bytes_str("c"), &iov, 1, &o, &p->out);
  return cairn_future_done(cairn_kv_runtime(p->kv), NULL);
}

/* With one I/O thread: were it kept waiting, nothing else could go on. */
Test(lock, a_held_lock_keeps_no_thread_and_is_taken_when_free) {
  struct store s;
  cairn_error_t err = {0};
  cairn_value_t v = {0};
  char path[128];
  setenv("CAIRN_IO_THREADS", "1", 1);
  store_open(&s, FILES);
  put(&s, "c", "one");
  must(kv_call_read(s.kv, cairn_bytes_str("c"), CAIRN_WHOLE, &v, &err), &err);
  struct pending p = {.kv = s.kv, .gen = v.gen};
  cairn_value_reset(&v);

  snprintf(path, sizeof path, "%s/c.__lock", s.dir);
  int fd = open(path, O_RDWR | O_CREAT, 0666); /* another process, stopped */
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  cr_assert_eq(fcntl(fd, F_OFD_SETLK, &whole), 0);
  cr_assert_eq(write(fd, "a longer value than the new one", 31), 31);

  must(cairn__call(s.rt, write_locked, &p, -1, &err), &err);
  for (int i = 0; i < 20; i++) put(&s, "other", "1");
  cr_assert(!cairn_future_ready(p.write));
  close(fd);
  must(cairn_future_finish(p.write, &err), &err);
  cr_assert(p.out.condition_met);
  expect_value(&s, "c", "two");
  expect_list(&s, "", "c:3 other:1");
  store_close(&s);
}
