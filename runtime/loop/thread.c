/* Starting the runtime's threads. */
#include <signal.h>

#include "loop/internal.h"

/* The application's handlers must not run on our threads: they would meet
 * thread locals and locks that they know nothing of. Only the signals that a
 * thread raises by its own fault stay open, or a crash here would bypass the
 * crash reporter of the application (and the sanitizers'). */
static void signals_to_block(sigset_t *set) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
  sigfillset(set);
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
    sigdelset(set, faults[i]);
}

int cairn__thread_start(pthread_t *t, const char *name, void *(*fn)(void *),
                        void *arg) {
  sigset_t all, old;
  int rc;
  signals_to_block(&all);
  /* Blocked before the start and not by the thread: no window in between. */
  pthread_sigmask(SIG_SETMASK, &all, &old);
  rc = pthread_create(t, NULL, fn, arg);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  if (rc == 0) pthread_setname_np(*t, name);
  return rc;
}
