/* A temporary directory for one test. */
#ifndef TESTS_UNIT_IO_DIR_H_
#define TESTS_UNIT_IO_DIR_H_

#include <stdbool.h>

struct dir {
  char path[64];
};

void dir_make(struct dir *d);
void dir_remove(struct dir *d);
/* Path of a name below d; valid for the next seven calls. */
const char *dir_path(const struct dir *d, const char *name);
void dir_write(const struct dir *d, const char *name, const char *text);
bool dir_has(const struct dir *d, const char *name);

#endif
