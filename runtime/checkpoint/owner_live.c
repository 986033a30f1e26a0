/* The owners that live in this process. A process that is alive says nothing
 * about a save of its own that has ended and could not clean up behind it: what
 * that left would keep the process from saving the step again, for as long as
 * it lives. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint/owner_record.h"

struct live {
  char id[33];
  struct live *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct live *all;

bool cairn__owner_begin(const char *id) {
  struct live *l = calloc(1, sizeof(*l));
  if (l == NULL) return false;
  strncpy(l->id, id, sizeof(l->id) - 1);
  pthread_mutex_lock(&lock);
  l->next = all;
  all = l;
  pthread_mutex_unlock(&lock);
  return true;
}

void cairn__owner_end(const char *id) {
  struct live *found = NULL;
  pthread_mutex_lock(&lock);
  for (struct live **at = &all; *at != NULL; at = &(*at)->next)
    if (strcmp((*at)->id, id) == 0) {
      found = *at;
      *at = found->next;
      break;
    }
  pthread_mutex_unlock(&lock);
  free(found);
}

bool cairn__owner_is_live(const char *id, size_t n) {
  bool found = false;
  pthread_mutex_lock(&lock);
  for (struct live *l = all; l != NULL && !found; l = l->next)
    found = strncmp(l->id, id, n) == 0;
  pthread_mutex_unlock(&lock);
  return found;
}
