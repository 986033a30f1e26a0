/* Places of items in data files, and items packed in memory; see pack.h. */
#include <stdlib.h>

#include "ocdbt/pack.h"

bool cairn__place_is_full(const cairn__place_t *p) {
  return p->n == 0 || (p->target != 0 && p->files[p->n - 1]->size >= p->target);
}

static bool add_file(cairn__place_t *p) {
  if (p->n == p->cap) {
    size_t cap = p->cap != 0 ? 2 * p->cap : 4;
    cairn__data_file_t **files = realloc(p->files, cap * sizeof *files);
    if (files == NULL) return false;
    p->files = files;
    p->cap = cap;
  }
  cairn__data_file_t *f = calloc(1, sizeof *f);
  if (f == NULL) return false;
  memcpy(f->name, "d/", 2);
  cairn__random_id(f->name + 2);
  f->size = p->begin;
  p->files[p->n++] = f;
  return true;
}

bool cairn__place_next(cairn__place_t *p, uint64_t length, uint32_t *file,
                       uint64_t *offset) {
  if (cairn__place_is_full(p) && !add_file(p)) return false;
  *file = (uint32_t)(p->n - 1);
  *offset = p->files[*file]->size;
  p->files[*file]->size += length;
  return true;
}

cairn__ocdbt_file_t cairn__place_file(const cairn__place_t *p, uint32_t file) {
  cairn__ocdbt_file_t f = {0};
  f.rel = cairn_bytes(p->files[file]->name, CAIRN__DATA_FILE_NAME);
  return f;
}

void cairn__place_reset(cairn__place_t *p) {
  for (size_t i = 0; i < p->n; i++) free(p->files[i]);
  free(p->files);
  *p = (cairn__place_t){0};
}

/* Items in a row of one file make one region. */
static cairn__pack_region_t *region_for(cairn__pack_t *p, uint32_t file) {
  if (p->num_regions != 0 && p->regions[p->num_regions - 1].file == file)
    return &p->regions[p->num_regions - 1];
  if (p->num_regions == p->cap) {
    size_t cap = p->cap != 0 ? 2 * p->cap : 4;
    cairn__pack_region_t *r = realloc(p->regions, cap * sizeof *r);
    if (r == NULL) return NULL;
    p->regions = r;
    p->cap = cap;
  }
  cairn__pack_region_t *r = &p->regions[p->num_regions++];
  *r = (cairn__pack_region_t){.file = file};
  return r;
}

cairn_code_t cairn__pack_item(cairn__pack_t *p, size_t start,
                              cairn__ocdbt_loc_t *out, cairn_error_t *err) {
  uint32_t file = 0;
  uint64_t offset = 0;
  size_t n = p->bytes.n - start;
  cairn__pack_region_t *r = NULL;
  if (!p->bytes.failed && cairn__place_next(p->place, n, &file, &offset))
    r = region_for(p, file);
  if (r == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "%zu bytes of nodes", p->bytes.n);
  if (r->n == 0) {
    r->offset = offset;
    r->start = start;
  }
  r->n += n;
  out->file = cairn__place_file(p->place, file);
  out->offset = offset;
  out->length = n;
  return CAIRN_OK;
}

void cairn__pack_reset(cairn__pack_t *p) {
  cairn_buf_reset(&p->bytes);
  free(p->regions);
  *p = (cairn__pack_t){0};
}
