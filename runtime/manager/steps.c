/* The committed steps, ascending. Every rank keeps the same list: it starts
 * from the primary's scan and changes at commits, which all ranks see in the
 * same order. */
#include <stdlib.h>

#include "manager/internal.h"

static bool room(cairn_manager_t *m, size_t n) {
  if (n <= m->cap_steps) return true;
  size_t cap = n < 16 ? 16 : n * 2;
  int64_t *p = realloc(m->steps, cap * sizeof(*p));
  if (p == NULL) return false;
  m->steps = p;
  m->cap_steps = cap;
  return true;
}

bool cairn__steps_replace(cairn_manager_t *m, const int64_t *steps, size_t n) {
  pthread_mutex_lock(&m->lock);
  bool ok = room(m, n);
  if (ok && n != 0) memcpy(m->steps, steps, n * sizeof(*steps));
  if (ok) m->num_steps = n;
  pthread_mutex_unlock(&m->lock);
  return ok;
}

/* Where `step` is, or would be. */
static size_t place(const cairn_manager_t *m, int64_t step) {
  size_t at = m->num_steps;
  while (at > 0 && m->steps[at - 1] >= step) at--;
  return at;
}

static bool have_locked(const cairn_manager_t *m, int64_t step, size_t at) {
  return at < m->num_steps && m->steps[at] == step;
}

bool cairn__steps_add(cairn_manager_t *m, int64_t step) {
  pthread_mutex_lock(&m->lock);
  size_t at = place(m, step);
  bool ok = have_locked(m, step, at) || room(m, m->num_steps + 1);
  if (ok && !have_locked(m, step, at)) {
    memmove(m->steps + at + 1, m->steps + at,
            (m->num_steps - at) * sizeof(*m->steps));
    m->steps[at] = step;
    m->num_steps++;
  }
  pthread_mutex_unlock(&m->lock);
  return ok;
}

bool cairn__steps_have(cairn_manager_t *m, int64_t step) {
  pthread_mutex_lock(&m->lock);
  bool have = have_locked(m, step, place(m, step));
  pthread_mutex_unlock(&m->lock);
  return have;
}

bool cairn__steps_drop(cairn_manager_t *m, int64_t keep, int64_t **out,
                       size_t *n) {
  *out = NULL;
  *n = 0;
  pthread_mutex_lock(&m->lock);
  bool ok = true;
  if (keep > 0 && m->num_steps > (uint64_t)keep) {
    size_t drop = m->num_steps - (size_t)keep;
    *out = malloc(drop * sizeof(**out));
    ok = *out != NULL;
    if (ok) {
      memcpy(*out, m->steps, drop * sizeof(**out));
      memmove(m->steps, m->steps + drop, (size_t)keep * sizeof(*m->steps));
      m->num_steps = (size_t)keep;
      *n = drop;
    }
  }
  pthread_mutex_unlock(&m->lock);
  return ok;
}

bool cairn__steps_cut(cairn_manager_t *m, int64_t step, int64_t **out,
                      size_t *n) {
  pthread_mutex_lock(&m->lock);
  size_t at = place(m, step);
  if (have_locked(m, step, at)) at++;
  *n = m->num_steps - at;
  *out = malloc(*n * sizeof(**out) + 1);
  if (*out != NULL && *n != 0) memcpy(*out, m->steps + at, *n * sizeof(**out));
  if (*out != NULL) m->num_steps = at;
  pthread_mutex_unlock(&m->lock);
  return *out != NULL;
}
