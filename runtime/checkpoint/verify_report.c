/* The damage found: kept until the caller's thread can be told, and where in
 * the step it is. */
#include <stdlib.h>

#include "base/base.h"
#include "checkpoint/verify.h"

bool cairn__is_damage(cairn_code_t code) {
  switch (code) {
    case CAIRN_CORRUPT:
    case CAIRN_NOT_FOUND:
    case CAIRN_MISMATCH:
    case CAIRN_UNSUPPORTED: /* a flipped bit may look like a new version */
    case CAIRN_INVALID:     /* a range outside of a file that was cut */
    case CAIRN_IO:
      return true;
    default:
      return false;
  }
}

static char *copy(const char *s) {
  return cairn__bytes_dup(cairn_bytes_str(s));
}

void cairn__found_damage_reset(cairn__found_damage_t *d) {
  free(d->file);
  free(d->item);
  free(d->leaf);
  free(d->chunk);
  free(d->text);
}

void cairn__verify_add(cairn__verify_t *v, const cairn__found_damage_t *d) {
  if (v->n == v->cap) {
    size_t more = v->cap == 0 ? 16 : v->cap * 2;
    cairn__found_damage_t *p = realloc(v->found, more * sizeof(*p));
    if (p == NULL) {
      v->no_memory = true;
      return;
    }
    v->found = p;
    v->cap = more;
  }
  cairn__found_damage_t f = {copy(d->file),  copy(d->item), copy(d->leaf),
                             copy(d->chunk), copy(d->text), d->offset,
                             d->code,        d->index,      d->follows};
  if (f.file != NULL && f.item != NULL && f.leaf != NULL && f.chunk != NULL &&
      f.text != NULL) {
    v->found[v->n++] = f;
    return;
  }
  cairn__found_damage_reset(&f);
  v->no_memory = true;
}

char *cairn__verify_item_of(const cairn__verify_t *v, const char *file) {
  for (size_t i = 0; i < v->step->n; i++) {
    const cairn__step_item_t *item = &v->step->items[i];
    if (item->prefix[0] != 0 &&
        strncmp(file, item->prefix, strlen(item->prefix)) == 0)
      return item->name;
  }
  return NULL;
}

void cairn__verify_add_file(cairn__verify_t *v, const char *file,
                            const cairn_error_t *what) {
  cairn__found_damage_t d = {.file = (char *)file,
                             .item = cairn__verify_item_of(v, file),
                             .text = (char *)what->message,
                             .offset = -1,
                             .code = what->code};
  cairn__verify_add(v, &d);
}

/* --- where --- */

static int64_t offset_after(const char *text) {
  static const char at[] = " at ";
  cairn_bytes_t digits;
  int64_t offset;
  if (strncmp(text, at, sizeof(at) - 1) != 0) return -1;
  text += sizeof(at) - 1;
  digits = cairn_bytes(text, strspn(text, "0123456789"));
  return cairn__decimal(digits, &offset) ? offset : -1;
}

const char *cairn__damage_place(const cairn__listing_t *files,
                                const char *prefix, const char *text,
                                int64_t *offset) {
  const char *best = NULL, *best_at = NULL;
  size_t n = strlen(prefix), best_n = 0;
  *offset = -1;
  for (size_t i = 0; i < files->n; i++) {
    const char *name = files->v[i].name;
    if (strncmp(name, prefix, n) != 0) continue;
    size_t len = strlen(name + n);
    const char *at = len > best_n ? strstr(text, name + n) : NULL;
    if (at == NULL) continue;
    best = name;
    best_at = at;
    best_n = len;
  }
  if (best != NULL) *offset = offset_after(best_at + best_n);
  return best;
}

static bool is_space_or_start(const char *text, const char *p) {
  return p == text || p[-1] == ' ';
}

bool cairn__damage_lost(const char *text, cairn_bytes_t *file,
                        int64_t *offset) {
  bool found = false;
  for (const char *at = text; (at = strstr(at, " at ")) != NULL; at++) {
    const char *from = at;
    int64_t n = offset_after(at);
    while (!is_space_or_start(text, from)) from--;
    if (n < 0 || from == at) continue;
    *file = cairn_bytes(from, (size_t)(at - from));
    *offset = n;
    found = true;
  }
  return found;
}

/* What comes after the last time that the text names the file, and after the
 * offset that follows it there. */
static const char *after_place(const char *text, const char *name) {
  const char *last = NULL, *rest = text;
  for (const char *p = text; (p = strstr(p, name)) != NULL; p++) last = p;
  if (last == NULL) return text;
  last += strlen(name);
  if (offset_after(last) >= 0) {
    last += sizeof(" at ") - 1;
    last += strspn(last, "0123456789");
  }
  if (strncmp(last, ": ", 2) == 0 || strncmp(last, ", ", 2) == 0)
    rest = last + 2;
  return rest;
}

bool cairn__damage_cause(const cairn__listing_t *files, const char *prefix,
                         const char *text, cairn__damage_cause_t *out) {
  cairn_bytes_t lost;
  int64_t offset;
  *out = (cairn__damage_cause_t){.text = text};
  const char *listed = cairn__damage_place(files, prefix, text, &out->offset);
  if (out->offset < 0 && cairn__damage_lost(text, &lost, &offset)) {
    out->offset = offset;
    out->file =
        cairn__printf("%s%.*s", prefix, (int)lost.n, (const char *)lost.p);
  } else if (listed != NULL) {
    out->file = copy(listed);
  } else {
    return true;
  }
  if (out->file == NULL) return false;
  out->text = after_place(text, out->file + strlen(prefix));
  return true;
}

static bool is_below(cairn_bytes_t key, cairn_bytes_t name) {
  return name.n == 0 || (cairn__bytes_starts(key, name) &&
                         (key.n == name.n || key.p[name.n] == '/'));
}

/* "<leaf>/c/0/1" (zarr 3), "<leaf>/0.1", "<leaf>/.zarray". */
static size_t usual_leaf(cairn_bytes_t key) {
  size_t at = key.n;
  const uint8_t *c = memmem(key.p, key.n, "/c/", 3);
  if (c != NULL) return (size_t)(c - key.p);
  while (at > 0 && key.p[at - 1] != '/') at--;
  return at > 0 ? at - 1 : key.n;
}

void cairn__damage_leaf(const cairn_item_info_t *info, cairn_bytes_t key,
                        cairn_bytes_t *leaf, cairn_bytes_t *chunk) {
  size_t n = 0;
  bool found = false;
  for (size_t i = 0; i < info->n; i++) {
    cairn_bytes_t name = info->leaves[i].name;
    if (!info->leaves[i].has_data || !is_below(key, name) || name.n < n)
      continue;
    n = name.n;
    found = true;
  }
  if (!found) n = usual_leaf(key);
  *leaf = cairn_bytes(key.p, n);
  size_t rest = n < key.n && n > 0 ? n + 1 : n;
  *chunk = cairn_bytes(key.p + rest, key.n - rest);
}
