#include "dir.h"

#include <criterion/criterion.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void dir_make(struct dir *d) {
  strcpy(d->path, "/tmp/cairn-io-XXXXXX");
  cr_assert_not_null(mkdtemp(d->path));
}

static int drop(const char *path, const struct stat *st, int type,
                struct FTW *ftw) {
  (void)st, (void)type, (void)ftw;
  return remove(path);
}

/* Not by cairn__fs_rmtree, which is under test. */
void dir_remove(struct dir *d) {
  nftw(d->path, drop, 16, FTW_DEPTH | FTW_PHYS);
}

const char *dir_path(const struct dir *d, const char *name) {
  static char ring[8][4200];
  static unsigned at;
  char *p = ring[at++ % 8];
  snprintf(p, sizeof ring[0], "%s/%s", d->path, name);
  return p;
}

void dir_write(const struct dir *d, const char *name, const char *text) {
  FILE *f = fopen(dir_path(d, name), "w");
  cr_assert_not_null(f);
  fputs(text, f);
  fclose(f);
}

bool dir_has(const struct dir *d, const char *name) {
  struct stat st;
  return lstat(dir_path(d, name), &st) == 0;
}
