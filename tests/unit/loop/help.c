#include "help.h"

#include <string.h>

cairn_runtime_t *help_open(bool poll) {
  cairn_runtime_opts_t o = {.poll = poll, .cpu_threads = 2};
  cairn_runtime_t *rt = NULL;
  cairn_error_t err = {0};
  cr_assert_eq(cairn_runtime_open(&o, &rt, &err), CAIRN_OK, "%s", err.message);
  return rt;
}

void help_close(cairn_runtime_t *rt) {
  cairn_error_t err = {0};
  cr_assert_eq(cairn_runtime_close(rt, &err), CAIRN_OK, "%s", err.message);
}

struct call {
  cairn_runtime_t *rt;
  cairn__start_fn fn;
  void *arg;
};

static cairn_future_t *start(void *arg) {
  struct call *c = arg;
  cairn_future_t *f = c->fn(c->arg);
  return f != NULL ? f : cairn_future_done(c->rt, NULL);
}

cairn_code_t help_call(cairn_runtime_t *rt, cairn__start_fn fn, void *arg,
                       cairn_error_t *err) {
  struct call c = {rt, fn, arg};
  return cairn__call(rt, start, &c, -1, err);
}

static void on_wait(cairn_wait_t *wait) {
  struct help_wait *w = cairn_container_of(wait, struct help_wait, wait);
  size_t n = strlen(w->trace);
  w->trace[n] = w->id;
  w->trace[n + 1] = 0;
  w->code = cairn_wait_result(wait, NULL);
  if (w->all_run != NULL) cairn_future_resolve(w->all_run, NULL);
}

void help_then(cairn_future_t *f, struct help_wait *w) {
  cairn_then(f, &w->wait, on_wait);
}

void help_flag_init(struct help_flag *f) {
  cr_assert_eq(uv_sem_init(&f->sem, 0), 0);
}

void help_flag_raise(struct help_flag *f) {
  uv_sem_post(&f->sem);
}

void help_flag_await(struct help_flag *f) {
  uv_sem_wait(&f->sem);
}
