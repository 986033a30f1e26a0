/* Threads that cannot be started. The linker sends the library's pthread_create
 * here (extra.cmake). */
#include <errno.h>
#include <pthread.h>

#include "help.h"

typedef void *(*start_fn)(void *);
int __real_pthread_create(pthread_t *t, const pthread_attr_t *attr, start_fn fn,
                          void *arg);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, start_fn fn,
                          void *arg);

static bool refuse;

int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, start_fn fn,
                          void *arg) {
  return refuse ? EAGAIN : __real_pthread_create(t, attr, fn, arg);
}

static cairn_code_t nothing(void *job, cairn_error_t *err) {
  (void)job, (void)err;
  return CAIRN_OK;
}

Test(threads, runtime_without_a_loop_thread_does_not_open) {
  cairn_error_t err = {0};
  cairn_runtime_t *rt = NULL;
  refuse = true;
  cr_assert_eq(cairn_runtime_open(NULL, &rt, &err), CAIRN_UNAVAILABLE);
  cr_assert_str_eq(err.message,
                   "open runtime: Resource temporarily unavailable");
}

Test(threads, pool_without_any_thread_fails_the_job) {
  cairn_runtime_t *rt = help_open(false);
  cairn_error_t err = {0};
  refuse = true;
  cr_assert_eq(cairn_future_finish(cairn_work(rt, nothing, NULL), &err),
               CAIRN_UNAVAILABLE);
  cr_assert_str_eq(
      err.message,
      "start thread cairn-cpu-0: Resource temporarily unavailable");
  refuse = false;
  cr_assert_eq(cairn_future_finish(cairn_work(rt, nothing, NULL), NULL),
               CAIRN_OK);
  help_close(rt);
}

struct block {
  struct help_flag go;
};

static cairn_code_t wait_to_go(void *job, cairn_error_t *err) {
  struct block *b = job;
  (void)err;
  help_flag_await(&b->go);
  return CAIRN_OK;
}

Test(threads, pool_that_cannot_grow_works_with_what_it_has) {
  cairn_runtime_t *rt = help_open(false);
  struct block b;
  cairn_future_t *first, *second;
  help_flag_init(&b.go);
  first = cairn_work(rt, wait_to_go, &b);
  refuse = true;
  second = cairn_work(rt, nothing, NULL);
  help_flag_raise(&b.go);
  cr_assert_eq(cairn_future_finish(first, NULL), CAIRN_OK);
  cr_assert_eq(cairn_future_finish(second, NULL), CAIRN_OK);
  help_close(rt);
}
