/* Cairn for the oracles: does the jobs of a document, on one rank or under
 * mpirun, and says how each went.
 *
 *   oracle_tool JOBS.json
 *
 * JOBS.json is a list of jobs, done in order by all ranks:
 *
 *   {"op": "save", "root", "step", "data", "items"}   by a manager
 *   {"op": "save", "path", "data", "items"}           by a checkpointer
 *   {"op": "restore", "root", "step" | "path", "items", "out"}
 *       rank r's part goes to <out>.<r>.bin and <out>.<r>.json
 *   {"op": "steps", "root"}        with "step_prefix", "step_digits" if it has
 *   {"op": "flips", "path", "items", "file", "from", "to"}
 *       flips each bit of these bytes of the file and restores: which flips go
 *       unnoticed, and which of those change a value
 *
 * "profile" is "cairn", "orbax" or "orbax_v1"; items are as in oracle_state.h.
 * A job that fails does not end the program: rank 0 prints one line of JSON a
 * job, {"code", "message", "agreed"}, agreed if all ranks were told the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cairn/comm_mpi.h"
#include "oracle_state.h"

struct tool {
  cairn_runtime_t *rt;
  cairn_comm_t *comm;
  int rank, size;
  const cairn_json_t *job;
  cairn_buf_t report; /* further members of the job's line */
};

/* Members of a job */

/* For free(). NULL: the job has none. */
static char *text(const struct tool *t, const char *key) {
  const cairn_json_t *v = cairn_json_get(t->job, key);
  if (v == NULL || v->kind != CAIRN_JSON_STRING) return NULL;
  return strndup((const char *)v->str.p, v->str.n);
}

static int64_t number(const struct tool *t, const char *key) {
  int64_t n = 0;
  (void)cairn_json_int(cairn_json_get(t->job, key), &n);
  return n;
}

static bool is_true(const struct tool *t, const char *key) {
  const cairn_json_t *v = cairn_json_get(t->job, key);
  return v != NULL && v->kind == CAIRN_JSON_BOOL && v->b;
}

static cairn_checkpointer_opts_t options(const struct tool *t) {
  const cairn_json_t *profile = cairn_json_get(t->job, "profile");
  cairn_checkpointer_opts_t o = {
      .not_durable = true, /* hundreds of saves; none outlives the test */
      .no_compression = is_true(t, "no_compression"),
      .chunk_bytes = number(t, "chunk_bytes"),
      .deadline_ms = 60000,
  };
  if (cairn_json_is_str(profile, "orbax")) o.profile = CAIRN_PROFILE_ORBAX;
  if (cairn_json_is_str(profile, "orbax_v1"))
    o.profile = CAIRN_PROFILE_ORBAX_V1;
  return o;
}

/* Files */

static cairn_code_t map_file(const char *path, source_t *out,
                             cairn_error_t *err) {
  struct stat st;
  *out = (source_t){0};
  if (path == NULL) return CAIRN_OK;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &st) != 0)
    return cairn_fail_errno(err, errno, "open %s", path);
  if (st.st_size > 0) {
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED) return cairn_fail_errno(err, errno, "map %s", path);
    *out = (source_t){p, (size_t)st.st_size};
  }
  close(fd);
  return CAIRN_OK;
}

static void unmap_file(source_t *s) {
  if (s->n != 0) munmap((void *)(uintptr_t)s->p, s->n);
}

static cairn_code_t write_file(const struct tool *t, const char *prefix,
                               const char *end, const cairn_buf_t *b,
                               cairn_error_t *err) {
  char path[4096];
  snprintf(path, sizeof path, "%s.%d.%s", prefix, t->rank, end);
  FILE *f = fopen(path, "wb");
  if (f == NULL) return cairn_fail_errno(err, errno, "open %s", path);
  bool ok = b->n == 0 || fwrite(b->p, 1, b->n, f) == b->n;
  if (fclose(f) != 0 || !ok)
    return cairn_fail_errno(err, errno, "write %s", path);
  return CAIRN_OK;
}

/* A manager for the job's root, or a checkpointer for its path */

struct store {
  cairn_manager_t *mgr;
  cairn_checkpointer_t *ck;
  char *root, *path, *prefix;
};

static cairn_code_t store_open(struct tool *t, bool read_only, struct store *s,
                               cairn_error_t *err) {
  *s = (struct store){.root = text(t, "root"),
                      .path = text(t, "path"),
                      .prefix = text(t, "step_prefix")};
  cairn_manager_opts_t o = {.checkpointer = options(t),
                            .step_prefix = s->prefix,
                            .step_digits = (int)number(t, "step_digits"),
                            .read_only = read_only,
                            .no_create = read_only};
  if (s->root == NULL)
    return cairn_checkpointer_open(t->rt, t->comm, &o.checkpointer, &s->ck,
                                   err);
  return cairn_manager_open(t->rt, t->comm, s->root, &o, &s->mgr, err);
}

static cairn_code_t store_close(struct store *s, cairn_error_t *err) {
  cairn_code_t rc = CAIRN_OK;
  if (s->mgr != NULL) rc = cairn_manager_close(s->mgr, -1, err);
  if (s->ck != NULL) rc = cairn_checkpointer_close(s->ck, -1, err);
  free(s->root);
  free(s->path);
  free(s->prefix);
  return rc;
}

static cairn_code_t store_save(struct tool *t, struct store *s,
                               const state_t *state, cairn_error_t *err) {
  cairn_manager_save_opts_t o = {.force = true};
  if (s->mgr == NULL)
    return cairn_checkpointer_save(s->ck, s->path, state->items, state->n, NULL,
                                   err);
  return cairn_manager_save_items(s->mgr, number(t, "step"), state->items,
                                  state->n, &o, err);
}

static cairn_code_t store_restore(struct tool *t, struct store *s,
                                  const state_t *state, cairn_error_t *err) {
  int64_t step = -1;
  cairn_restore_opts_t o = {.partial = is_true(t, "partial"), .step = &step};
  if (s->mgr == NULL)
    return cairn_checkpointer_restore(s->ck, s->path, state->items, state->n,
                                      &o, err);
  cairn_code_t rc = cairn_manager_restore_items(
      s->mgr, number(t, "step"), state->items, state->n, &o, err);
  cairn_buf_printf(&t->report, ", \"step\": %" PRId64, step);
  return rc;
}

/* Jobs */

static cairn_code_t save(struct tool *t, cairn_error_t *err) {
  char *file = text(t, "data");
  struct store s = {0};
  state_t state = {0};
  source_t data = {0};
  cairn_error_t closing = {0};
  cairn_code_t rc = map_file(file, &data, err);
  if (rc == CAIRN_OK)
    rc = state_make(cairn_json_get(t->job, "items"), data, t->rank, false,
                    &state, err);
  if (rc == CAIRN_OK) rc = store_open(t, false, &s, err);
  if (rc == CAIRN_OK) rc = store_save(t, &s, &state, err);
  if (store_close(&s, &closing) != CAIRN_OK && rc == CAIRN_OK)
    rc = cairn_error_copy(err, &closing);
  state_free(&state);
  unmap_file(&data);
  free(file);
  return rc;
}

static cairn_code_t keep(struct tool *t, const state_t *state,
                         cairn_error_t *err) {
  cairn_buf_t bytes = {0}, texts = {0}, doc = {0};
  char *out = text(t, "out");
  cairn_code_t rc =
      state_take(cairn_json_get(t->job, "items"), state, &bytes, &texts, err);
  cairn_buf_printf(&doc, "[");
  cairn_buf_put(&doc, texts.p, texts.n);
  cairn_buf_printf(&doc, "]");
  if (rc == CAIRN_OK) rc = write_file(t, out, "bin", &bytes, err);
  if (rc == CAIRN_OK) rc = write_file(t, out, "json", &doc, err);
  cairn_buf_reset(&bytes);
  cairn_buf_reset(&texts);
  cairn_buf_reset(&doc);
  free(out);
  return rc;
}

static cairn_code_t restore(struct tool *t, cairn_error_t *err) {
  struct store s = {0};
  state_t state = {0};
  cairn_error_t closing = {0};
  cairn_code_t rc = state_make(cairn_json_get(t->job, "items"), (source_t){0},
                               t->rank, true, &state, err);
  if (rc == CAIRN_OK) rc = store_open(t, true, &s, err);
  if (rc == CAIRN_OK) rc = store_restore(t, &s, &state, err);
  if (rc == CAIRN_OK) rc = keep(t, &state, err);
  if (store_close(&s, &closing) != CAIRN_OK && rc == CAIRN_OK)
    rc = cairn_error_copy(err, &closing);
  state_free(&state);
  return rc;
}

static cairn_code_t steps(struct tool *t, cairn_error_t *err) {
  struct store s = {0};
  int64_t *v = NULL;
  size_t n = 0;
  cairn_code_t rc = store_open(t, true, &s, err);
  if (rc == CAIRN_OK) rc = cairn_manager_steps(s.mgr, &v, &n, err);
  if (rc == CAIRN_OK) {
    cairn_buf_printf(&t->report, ", \"latest\": %" PRId64 ", \"steps\": [",
                     cairn_manager_latest(s.mgr));
    for (size_t i = 0; i < n; i++)
      cairn_buf_printf(&t->report, "%s%" PRId64, i != 0 ? ", " : "", v[i]);
    cairn_buf_printf(&t->report, "]");
  }
  free(v);
  (void)store_close(&s, NULL);
  return rc;
}

/* Flips */

/* One restore into fresh memory; what it gave, one byte string. */
static cairn_code_t restore_once(struct tool *t, struct store *s,
                                 cairn_buf_t *out, cairn_error_t *err) {
  const cairn_json_t *items = cairn_json_get(t->job, "items");
  state_t state = {0};
  cairn_buf_t texts = {0};
  cairn_code_t rc =
      state_make(items, (source_t){0}, t->rank, true, &state, err);
  if (rc == CAIRN_OK) rc = store_restore(t, s, &state, err);
  if (rc == CAIRN_OK) rc = state_take(items, &state, out, &texts, err);
  cairn_buf_put(out, texts.p, texts.n);
  cairn_buf_reset(&texts);
  state_free(&state);
  return rc;
}

static bool flip(int fd, int64_t bit) {
  uint8_t byte;
  if (pread(fd, &byte, 1, bit / 8) != 1) return false;
  byte ^= (uint8_t)(1 << bit % 8);
  return pwrite(fd, &byte, 1, bit / 8) == 1;
}

/* Unnoticed flips as [bit, values are right], and how many of the others came
 * with a code that says damage. */
static cairn_code_t flip_all(struct tool *t, struct store *s, int fd,
                             cairn_error_t *err) {
  cairn_buf_t want = {0}, got = {0};
  cairn_code_t rc = restore_once(t, s, &want, err);
  int64_t corrupt = 0, bit = number(t, "from") * 8, end = number(t, "to") * 8;
  const char *comma = "";
  cairn_buf_printf(&t->report, ", \"unnoticed\": [");
  for (; bit < end && rc == CAIRN_OK; bit++) {
    cairn_error_t e = {0};
    if (!flip(fd, bit)) rc = cairn_fail_errno(err, errno, "flip a bit");
    got.n = 0;
    cairn_code_t code = restore_once(t, s, &got, &e);
    corrupt += code == CAIRN_CORRUPT;
    if (code == CAIRN_OK) {
      bool same = got.n == want.n && memcmp(got.p, want.p, got.n) == 0;
      cairn_buf_printf(&t->report, "%s[%" PRId64 ", %s]", comma, bit,
                       same ? "true" : "false");
      comma = ", ";
    }
    if (!flip(fd, bit)) rc = cairn_fail_errno(err, errno, "flip it back");
  }
  cairn_buf_printf(&t->report, "], \"corrupt\": %" PRId64, corrupt);
  cairn_buf_reset(&want);
  cairn_buf_reset(&got);
  return rc;
}

static cairn_code_t flips(struct tool *t, cairn_error_t *err) {
  struct store s = {0};
  char *file = text(t, "file");
  int fd = open(file, O_RDWR | O_CLOEXEC);
  cairn_code_t rc = fd < 0 ? cairn_fail_errno(err, errno, "open %s", file)
                           : store_open(t, true, &s, err);
  if (rc == CAIRN_OK) rc = flip_all(t, &s, fd, err);
  (void)store_close(&s, NULL);
  if (fd >= 0) close(fd);
  free(file);
  return rc;
}

/* The list of jobs */

static cairn_code_t run(struct tool *t, cairn_error_t *err) {
  static const struct {
    const char *name;
    cairn_code_t (*fn)(struct tool *t, cairn_error_t *err);
  } ops[] = {
      {"save", save}, {"restore", restore}, {"steps", steps}, {"flips", flips}};
  const cairn_json_t *op = cairn_json_get(t->job, "op");
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
    if (cairn_json_is_str(op, ops[i].name)) return ops[i].fn(t, err);
  return cairn_fail(err, CAIRN_INVALID, "no such job");
}

/* All ranks; true if each was told the same. */
static bool agreed(const struct tool *t, const cairn_error_t *err) {
  cairn_error_t first = *err;
  int same, all;
  MPI_Bcast(&first, (int)sizeof first, MPI_BYTE, 0, MPI_COMM_WORLD);
  same = first.code == err->code && strcmp(first.message, err->message) == 0;
  MPI_Allreduce(&same, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  if (!same) fprintf(stderr, "rank %d was told: %s\n", t->rank, err->message);
  return all != 0;
}

static void report(struct tool *t, const cairn_error_t *err) {
  cairn_buf_t line = {0};
  bool same = agreed(t, err);
  cairn_buf_printf(
      &line, "{\"code\": \"%s\", \"message\": ", cairn_code_text(err->code));
  cairn_json_emit_str(cairn_bytes_str(err->message), CAIRN_JSON_PYTHON, &line);
  cairn_buf_printf(&line, ", \"agreed\": %s", same ? "true" : "false");
  cairn_buf_put(&line, t->report.p, t->report.n);
  if (t->rank == 0) printf("%.*s}\n", (int)line.n, (const char *)line.p);
  fflush(stdout);
  cairn_buf_reset(&line);
  cairn_buf_reset(&t->report);
}

static void run_all(struct tool *t, const cairn_json_t *jobs) {
  for (t->job = jobs->child; t->job != NULL; t->job = t->job->next) {
    cairn_error_t err = {0};
    (void)run(t, &err);
    report(t, &err);
  }
}

static int work(const char *jobs_file, cairn_error_t *err) {
  struct tool t = {0};
  source_t file = {0};
  cairn_json_doc_t doc = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &t.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &t.size);
  cairn_code_t rc = map_file(jobs_file, &file, err);
  if (rc == CAIRN_OK)
    rc = cairn_json_parse(cairn_bytes(file.p, file.n), NULL, &doc, err);
  if (rc == CAIRN_OK) rc = cairn_runtime_open(NULL, &t.rt, err);
  if (rc == CAIRN_OK)
    rc = cairn_comm_mpi_open(t.rt, MPI_COMM_WORLD, &t.comm, err);
  if (rc == CAIRN_OK) run_all(&t, doc.root);
  if (rc == CAIRN_OK) rc = cairn_comm_close(t.comm, err);
  if (rc == CAIRN_OK) rc = cairn_runtime_close(t.rt, err);
  cairn_json_free(&doc);
  unmap_file(&file);
  return rc == CAIRN_OK ? 0 : 1;
}

int main(int argc, char **argv) {
  cairn_error_t err = {0};
  int level;
  if (argc != 2) {
    fprintf(stderr, "usage: oracle_tool JOBS.json\n");
    return 2;
  }
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  int status = work(argv[1], &err);
  if (status != 0) {
    fprintf(stderr, "oracle_tool: %s\n", err.message);
    MPI_Abort(MPI_COMM_WORLD, status);
  }
  MPI_Finalize();
  return 0;
}
