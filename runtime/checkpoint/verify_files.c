/* Whole files against cairn.json. A few lanes, each going through a file in
 * pieces: read on an I/O thread, summed on a CPU thread, the next piece. The
 * memory that takes is the lanes' buffers, whatever the files' size. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/sum.h"
#include "checkpoint/verify.h"
#include "kv/kv.h"
#include "loop/loop.h"

#define PIECE ((size_t)4 << 20)
#define MAX_LANES 8

struct files;

struct lane {
  struct files *all;
  const cairn__bound_file_t *file;
  uint64_t at; /* bytes summed */
  cairn__sum_t *sum;
  uint8_t *piece;
  size_t n; /* bytes in it */
  cairn_value_t value;
  cairn_wait_t wait;
};

struct files {
  cairn__verify_t *v;
  const cairn__bound_file_t **files; /* those that are there, whole */
  size_t n, next;
  struct lane lanes[MAX_LANES];
  int num_lanes, running;
  cairn_error_t err;
  cairn_future_t *done;
};

/* --- lanes --- */

static void lane_next(struct lane *lane);
static void lane_read(struct lane *lane);

static void lane_end(struct lane *lane) {
  struct files *f = lane->all;
  if (--f->running == 0) cairn_future_resolve(f->done, &f->err);
}

static void file_end(struct lane *lane) {
  cairn__verify_t *v = lane->all->v;
  cairn_error_t what = {0};
  v->out.files++;
  uint64_t value = cairn__sum_value(lane->sum);
  if (value != lane->file->sum) {
    cairn_fail(&what, CAIRN_CORRUPT,
               "sum of the file is %016" PRIx64 ", cairn.json says %016" PRIx64,
               value, lane->file->sum);
    cairn__verify_add_file(v, lane->file->name, &what);
  }
  lane_next(lane);
}

/* A file that cannot be read is damage; no memory for it is not. */
static void file_failed(struct lane *lane, const cairn_error_t *err) {
  struct files *f = lane->all;
  if (cairn__is_damage(err->code))
    cairn__verify_add_file(f->v, lane->file->name, err);
  else
    cairn_error_copy(&f->err, err);
  lane_next(lane);
}

static cairn_code_t sum(void *job, cairn_error_t *err) {
  struct lane *lane = job;
  (void)err;
  cairn__sum_add(lane->sum, lane->piece, lane->n);
  return CAIRN_OK;
}

static void on_summed(cairn_wait_t *w) {
  struct lane *lane = cairn_container_of(w, struct lane, wait);
  cairn_error_t err = {0};
  if (cairn_wait_result(w, &err) != CAIRN_OK) {
    file_failed(lane, &err);
    return;
  }
  lane->at += lane->n;
  lane->all->v->out.bytes += (int64_t)lane->n;
  if (lane->at == lane->file->length)
    file_end(lane);
  else
    lane_read(lane);
}

static void on_read(cairn_wait_t *w) {
  struct lane *lane = cairn_container_of(w, struct lane, wait);
  cairn_error_t err = {0};
  cairn_wait_result(w, &err);
  if (err.code == CAIRN_OK &&
      (!lane->value.found || lane->value.data.n != lane->n))
    cairn_fail(&err, CAIRN_CORRUPT, "it changed while it was read");
  cairn_value_reset(&lane->value);
  if (err.code != CAIRN_OK)
    file_failed(lane, &err);
  else
    cairn_then(cairn_work(lane->all->v->step->rt, sum, lane), &lane->wait,
               on_summed);
}

static void lane_read(struct lane *lane) {
  uint64_t left = lane->file->length - lane->at;
  lane->n = left < PIECE ? (size_t)left : PIECE;
  cairn_read_opts_t o = {.size = sizeof(o),
                         .what = CAIRN_READ_RANGE,
                         .min = (int64_t)lane->at,
                         .max = (int64_t)(lane->at + lane->n),
                         .dst = lane->piece,
                         .cap = PIECE};
  cairn_then(cairn_kv_read(lane->all->v->step->kv,
                           cairn_bytes_str(lane->file->name), &o, &lane->value),
             &lane->wait, on_read);
}

static void lane_next(struct lane *lane) {
  struct files *f = lane->all;
  for (;;) {
    if (f->next == f->n || f->err.code != CAIRN_OK) {
      lane_end(lane);
      return;
    }
    lane->file = f->files[f->next++];
    lane->at = 0;
    cairn__sum_reset(lane->sum);
    if (lane->file->length != 0) break;
    f->v->out.files++; /* empty, as it should be: the length was compared */
  }
  lane_read(lane);
}

static cairn_future_t *start_lanes(void *arg) {
  struct files *f = arg;
  cairn_future_t *done;
  if (!cairn__promise(f->v->step->rt, &done)) return done;
  f->done = done;
  f->running = f->num_lanes;
  for (int i = 0; i < f->num_lanes; i++) lane_next(&f->lanes[i]);
  return done;
}

static void lane_free(struct lane *lane) {
  free(lane->piece);
  cairn__sum_free(lane->sum);
}

static cairn_code_t sum_all(struct files *f, cairn_error_t *err) {
  int want = cairn__cpu_threads(f->v->step->rt) + 1;
  cairn_code_t rc = CAIRN_OK;
  if (want > MAX_LANES) want = MAX_LANES;
  while (f->num_lanes < want) {
    struct lane *lane = &f->lanes[f->num_lanes];
    lane->all = f;
    lane->piece = malloc(PIECE);
    lane->sum = cairn__sum_new();
    f->num_lanes++;
    if (lane->piece == NULL || lane->sum == NULL) {
      lane_free(&f->lanes[--f->num_lanes]);
      break;
    }
  }
  if (f->num_lanes > 0)
    rc = cairn__call(f->v->step->rt, start_lanes, f, -1, err);
  else
    rc = cairn_fail(err, CAIRN_NO_MEMORY, "reading files");
  for (int i = 0; i < f->num_lanes; i++) lane_free(&f->lanes[i]);
  return rc;
}

/* --- what is there and what should be --- */

static bool in_scope(const cairn__verify_t *v, const char *name) {
  if (!v->step->part) return true;
  const char *prefix = v->step->items[0].prefix;
  return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* True if the file is there with the length it should have. */
static bool check_length(cairn__verify_t *v, const cairn__bound_file_t *f) {
  const cairn__listed_t *seen = cairn__listing_find(&v->listing, f->name);
  cairn_error_t what = {0};
  if (seen == NULL)
    cairn_fail(&what, CAIRN_NOT_FOUND, "it is missing");
  else if (seen->size >= 0 && (uint64_t)seen->size != f->length)
    cairn_fail(&what, CAIRN_CORRUPT,
               "it has %" PRId64 " bytes, cairn.json says %" PRIu64, seen->size,
               f->length);
  else
    return true;
  cairn__verify_add_file(v, f->name, &what);
  return false;
}

static int by_name(const void *a, const void *b) {
  const cairn__bound_file_t *x = a, *y = b;
  return strcmp(x->name, y->name);
}

static void find_foreign(cairn__verify_t *v) {
  const cairn__binding_t *b = &v->step->binding;
  cairn_error_t what = {0};
  cairn_fail(&what, CAIRN_MISMATCH, "it is not part of the step");
  for (size_t i = 0; i < v->listing.n; i++) {
    cairn__bound_file_t key = {.name = v->listing.v[i].name};
    if (strcmp(key.name, CAIRN__BINDING_FILE) == 0) continue;
    if (b->num_files == 0 || bsearch(&key, b->files, b->num_files,
                                     sizeof(*b->files), by_name) == NULL)
      cairn__verify_add_file(v, key.name, &what);
  }
}

cairn_code_t cairn__verify_files(cairn__verify_t *v, cairn_error_t *err) {
  cairn__binding_t *b = &v->step->binding;
  struct files f = {.v = v};
  if (b->num_files > 1) /* the text may list them in any order */
    qsort(b->files, b->num_files, sizeof(*b->files), by_name);
  f.files = calloc(b->num_files + 1, sizeof(const cairn__bound_file_t *));
  if (f.files == NULL) return cairn_fail(err, CAIRN_NO_MEMORY, "reading files");
  for (size_t i = 0; i < b->num_files; i++)
    if (in_scope(v, b->files[i].name) && check_length(v, &b->files[i]))
      f.files[f.n++] = &b->files[i];
  find_foreign(v);
  cairn_code_t rc = sum_all(&f, err);
  free(f.files);
  return rc;
}
