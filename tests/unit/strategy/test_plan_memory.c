/* Memory that runs out at the n-th allocation of a plan, for every n: the call
 * says so, keeps nothing, and the loads are as before. */
#include "plan_case.h"

void *__real_calloc(size_t n, size_t size);
void *__real_reallocarray(void *p, size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_reallocarray(void *p, size_t n, size_t size);

static long left = -1; /* allocations that still succeed; negative: all */

static bool refuse(void) {
  if (left < 0) return false;
  if (left == 0) return true;
  left--;
  return false;
}

void *__wrap_calloc(size_t n, size_t size) {
  return refuse() ? NULL : __real_calloc(n, size);
}

void *__wrap_reallocarray(void *p, size_t n, size_t size) {
  return refuse() ? NULL : __real_reallocarray(p, n, size);
}

/* How many allocations it took. */
static long plan_without_memory(struct plan_case *c) {
  cairn_code_t code = CAIRN_NO_MEMORY;
  int64_t load[64] = {0};
  long n = 0;
  c->in.load = load;
  for (; code != CAIRN_OK; n++) {
    cairn_plan_t p;
    cairn_error_t err = {0};
    left = n;
    code = cairn_plan_array(&c->in, &p, &err);
    left = -1;
    cr_assert_eq(err.code, code);
    cr_assert(code == CAIRN_OK || code == CAIRN_NO_MEMORY);
    cr_assert_eq(code == CAIRN_OK, p.pieces != NULL);
    for (int r = 0; r < 64 && code != CAIRN_OK; r++) cr_assert_eq(load[r], 0);
    cairn_plan_free(&p);
  }
  return n;
}

Test(plan_memory, every_rule_says_when_there_is_none) {
  static const cairn_plan_rule_t rules[] = {CAIRN_PLAN_CAIRN, CAIRN_PLAN_ORBAX};
  for (size_t i = 0; i < 2; i++) {
    struct plan_case c;
    CASE(&c, 8, 6, 1 << 20); /* eight columns of 24 MiB, held by 8 ranks each */
    c.in.rule = rules[i];
    c.in.num_ranks = 64;
    c.in.chunk_bytes = 1 << 20;
    for (int r = 0; r < 64; r++)
      case_add(&c, r, INTS(0, 0, (int64_t)(r % 8) << 17), INTS(8, 6, 1 << 17));
    cr_expect_geq(plan_without_memory(&c), 8);
    case_end(&c);
  }
}
