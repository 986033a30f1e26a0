/* Tickers: called while active, safe to stop from inside. */
#include <stdlib.h>

#include "help.h"

struct tick {
  cairn__ticker_t ticker;
  cairn_runtime_t *rt;
  cairn_future_t *done;
  struct tick *victim; /* stopped and freed at the third tick */
  int left;
  int *count;
};

static bool on_tick(cairn__ticker_t *t) {
  struct tick *k = cairn_container_of(t, struct tick, ticker);
  if (k->count != NULL) ++*k->count;
  if (--k->left == 0) {
    cairn__ticker_stop(k->rt, t);
    if (k->done != NULL) cairn_future_resolve(k->done, NULL);
  }
  if (k->left == 3 && k->victim != NULL) {
    cairn__ticker_stop(k->rt, &k->victim->ticker);
    free(k->victim);
    k->victim = NULL;
  }
  return k->left % 2 == 0;
}

static cairn_future_t *start(void *arg) {
  struct tick *k = arg;
  k->done = cairn_future_new(k->rt);
  cairn__ticker_start(k->rt, &k->ticker, on_tick);
  return k->done;
}

Test(ticker, ticks_until_it_stops_itself_and_can_start_again) {
  struct tick k = {.rt = help_open(false)};
  for (int round = 0; round < 3; round++) {
    k.left = 20;
    cr_assert_eq(help_call(k.rt, start, &k, NULL), CAIRN_OK);
    cr_assert_eq(k.left, 0);
    cr_assert_not(k.ticker.active);
  }
  help_close(k.rt);
}

/* Whichever of the two comes first on the list, one stops the other. */
static cairn_future_t *start_pair(void *arg) {
  struct tick *k = arg;
  k->victim->rt = k->rt;
  k->victim->left = -1;
  cairn__ticker_start(k->rt, &k->victim->ticker, on_tick);
  return start(k);
}

static cairn_future_t *start_pair_reversed(void *arg) {
  struct tick *k = arg;
  start(k);
  k->victim->rt = k->rt;
  k->victim->left = -1;
  cairn__ticker_start(k->rt, &k->victim->ticker, on_tick);
  return k->done;
}

Test(ticker, one_may_stop_and_free_another) {
  static const cairn__start_fn starts[] = {start_pair, start_pair_reversed};
  struct tick k = {.rt = help_open(false)};
  for (int i = 0; i < 2; i++) {
    k.left = 10;
    k.victim = calloc(1, sizeof *k.victim);
    cr_assert_eq(help_call(k.rt, starts[i], &k, NULL), CAIRN_OK);
    cr_assert_null(k.victim);
  }
  help_close(k.rt);
}

Test(ticker, works_in_poll_mode) {
  int count = 0;
  struct tick k = {.rt = help_open(true), .left = 10, .count = &count};
  cr_assert_eq(help_call(k.rt, start, &k, NULL), CAIRN_OK);
  cr_assert_eq(count, 10);
  help_close(k.rt);
}

static cairn_future_t *stop_inactive(void *arg) {
  struct tick *k = arg;
  cairn__ticker_stop(k->rt, &k->ticker);
  return NULL;
}

Test(ticker, stopping_one_that_is_not_active_is_nothing) {
  struct tick k = {.rt = help_open(false)};
  cr_assert_eq(help_call(k.rt, stop_inactive, &k, NULL), CAIRN_OK);
  help_close(k.rt);
}
