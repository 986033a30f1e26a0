#include "shim.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim_impl.h"

#define MAX_EVENTS 65536

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool armed;
static shim_rule_t rule;
static long count, clock_now;
static shim_event_t *events;
static size_t num_events;
static __thread bool inside; /* a function that a rule has called */

const char *shim_op_name(shim_op_t op) {
  static const char *const names[] = {"open",   "write",  "sync",   "close",
                                      "rename", "mkdir",  "unlink", "rmdir",
                                      "link",   "resize", "lock",   "flush"};
  return names[op];
}

static void forget_events(void) {
  for (size_t i = 0; i < num_events; i++) {
    free(events[i].path);
    free(events[i].to);
  }
  num_events = 0;
}

void shim_arm(const shim_rule_t *r) {
  pthread_mutex_lock(&lock);
  rule = *r;
  count = clock_now = 0;
  forget_events();
  if (rule.record && events == NULL)
    events = calloc(MAX_EVENTS, sizeof(*events));
  if (rule.hit != NULL) rule.hit->fired = false;
  armed = true;
  pthread_mutex_unlock(&lock);
}

long shim_disarm(void) {
  pthread_mutex_lock(&lock);
  armed = false;
  long n = count;
  pthread_mutex_unlock(&lock);
  return n;
}

const shim_event_t *shim_events(size_t *n) {
  *n = num_events;
  return events;
}

/* --- which calls --- */

static bool below(const char *path) {
  size_t n = strlen(rule.root);
  return strncmp(path, rule.root, n) == 0 && (path[n] == '/' || path[n] == 0);
}

/* lock is held. */
static bool counts(const shim_call_t *c) {
  return armed && !inside && (below(c->path) || below(c->to)) &&
         (rule.ops == 0 || (rule.ops >> c->op & 1) != 0) &&
         (rule.part == NULL || strstr(c->path, rule.part) != NULL);
}

static bool met(void) {
  return rule.at > 0 && (count == rule.at || (rule.sticky && count > rule.at));
}

/* --- what is done about them --- */

static void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

static void note_hit(const shim_call_t *c) {
  if (rule.hit == NULL || rule.hit->fired) return;
  rule.hit->op = c->op;
  snprintf(rule.hit->path, sizeof(rule.hit->path), "%s", c->path);
  rule.hit->fired = true;
}

/* lock is held. */
static void apply(shim_call_t *c) {
  note_hit(c);
  c->err = rule.err;
  switch (rule.how) {
    case SHIM_KILL:
      die();
      break;
    case SHIM_TEAR:
      if (c->op != SHIM_WRITE) die();
      c->most /= 2;
      c->kill = true;
      break;
    case SHIM_FAIL: /* Linux closes whatever it says */
      c->refused = c->op != SHIM_CLOSE;
      c->lost = !c->refused;
      break;
    case SHIM_LOST:
      c->lost = true;
      break;
    case SHIM_SHORT:
      c->most = 1;
      break;
    case SHIM_CALL:
      break;
  }
}

static void call_out(void (*fn)(void *arg), void *arg) {
  inside = true;
  fn(arg);
  inside = false;
}

bool shim__begin(shim_call_t *c) {
  pthread_mutex_lock(&lock);
  c->counted = counts(c);
  bool hit = false;
  if (c->counted) {
    count++;
    c->begin = ++clock_now;
    hit = met();
    if (hit) apply(c);
  }
  void (*fn)(void *arg) = hit && rule.how == SHIM_CALL ? rule.call : NULL;
  void *arg = rule.arg;
  pthread_mutex_unlock(&lock);
  if (fn != NULL) call_out(fn, arg);
  if (c->refused) errno = c->err;
  return !c->refused;
}

/* --- what they did --- */

static bool stat_of(const shim_call_t *c, struct stat *st) {
  if (c->op == SHIM_UNLINK || c->op == SHIM_RMDIR) return false;
  if (c->fd >= 0) return fstat(c->fd, st) == 0;
  return lstat(c->to[0] != 0 ? c->to : c->path, st) == 0;
}

static ino_t parent_of(const shim_call_t *c) {
  char dir[PATH_MAX];
  struct stat st;
  snprintf(dir, sizeof(dir), "%s", c->to[0] != 0 ? c->to : c->path);
  char *slash = strrchr(dir, '/');
  if (slash == NULL) return 0;
  *slash = 0;
  return stat(dir, &st) == 0 ? st.st_ino : 0;
}

static void record(const shim_call_t *c) {
  struct stat st = {0};
  stat_of(c, &st);
  ino_t parent = parent_of(c);
  pthread_mutex_lock(&lock);
  if (num_events < MAX_EVENTS)
    events[num_events++] =
        (shim_event_t){.op = c->op,
                       .begin = c->begin,
                       .end = ++clock_now,
                       .dev = st.st_dev,
                       .ino = st.st_ino,
                       .is_dir = S_ISDIR(st.st_mode),
                       .parent = parent,
                       .path = strdup(c->path),
                       .to = c->to[0] != 0 ? strdup(c->to) : NULL};
  pthread_mutex_unlock(&lock);
}

long shim__end(shim_call_t *c, long rc) {
  if (c->kill) die();
  if (!c->counted) return rc;
  int saved = errno;
  if (rc >= 0 && rule.record) record(c);
  errno = saved;
  if (c->lost && rc >= 0) {
    if (c->op == SHIM_OPEN) close((int)rc);
    errno = c->err;
    return -1;
  }
  return rc;
}
