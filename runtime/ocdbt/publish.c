/* The last steps of every new database, in the order that keeps a crash
 * harmless (section 13.5): what no manifest names is garbage, so the manifest
 * goes last. */
#include <stdlib.h>

#include "ocdbt/writer.h"

#define MANIFEST_NAME "manifest.ocdbt"

static void advance(cairn__publish_t *p);

static cairn_code_t build_job(void *job, cairn_error_t *err) {
  cairn__publish_t *p = job;
  cairn_code_t rc = p->prepare(p, err);
  return rc == CAIRN_OK ? cairn__build_run(&p->build, err) : rc;
}

static cairn_future_t *send_data(cairn__publish_t *p) {
  cairn_error_t err = {0};
  if (cairn__datalog_write_pack(p->log, &p->build.pack, &err) != CAIRN_OK)
    return cairn_future_done(cairn_kv_runtime(p->base), &err);
  return cairn__datalog_finish(p->log);
}

/* A manifest never names what a power cut may still take. */
static cairn_future_t *sync_data(cairn__publish_t *p) {
  if (!p->sync_data) return cairn_future_done(cairn_kv_runtime(p->base), NULL);
  return cairn_kv_sync(p->base, cairn_bytes(NULL, 0));
}

static cairn_future_t *send_manifest(cairn__publish_t *p) {
  struct iovec iov = {p->build.manifest.p, p->build.manifest.n};
  cairn_write_opts_t o = {.size = sizeof o, .if_equal = &CAIRN_GEN_ABSENT};
  o.defer_sync = p->defer_sync;
  p->may_be_visible = true;
  return cairn_kv_write(p->base, cairn_bytes_str(MANIFEST_NAME), &iov, 1, &o,
                        &p->written);
}

/* --- summary --- */

static bool describe_file(cairn__ocdbt_written_file_t *f, cairn_bytes_t name,
                          uint64_t length, uint64_t sum) {
  f->name = cairn__bytes_dup(name);
  f->length = length;
  f->sum = sum;
  return f->name != NULL;
}

static cairn_code_t summarize(cairn__publish_t *p, cairn_error_t *err) {
  cairn__ocdbt_summary_t s = {.num_keys = p->build.num_keys,
                              .value_bytes = p->build.value_bytes};
  size_t n = cairn__datalog_num_files(p->log);
  s.files = calloc(n + 1, sizeof *s.files);
  bool ok = s.files != NULL;
  for (size_t i = 0; i < n && ok; i++) {
    cairn_bytes_t name;
    uint64_t length;
    uint64_t sum;
    cairn__datalog_file(p->log, i, &name, &length, &sum);
    ok = describe_file(&s.files[s.num_files++], name, length, sum);
  }
  if (ok)
    ok = describe_file(&s.files[s.num_files++], cairn_bytes_str(MANIFEST_NAME),
                       p->build.manifest.n, p->build.manifest_sum);
  if (!ok) {
    cairn__ocdbt_summary_free(&s);
    return cairn_fail(err, CAIRN_NO_MEMORY, "summary of %zu files", n);
  }
  s.leaves = p->build.leaves;
  p->build.leaves = (cairn_buf_t){0};
  *p->out = s;
  return CAIRN_OK;
}

void cairn__ocdbt_summary_free(cairn__ocdbt_summary_t *s) {
  for (size_t i = 0; i < s->num_files; i++) free(s->files[i].name);
  free(s->files);
  cairn_buf_reset(&s->leaves);
  *s = (cairn__ocdbt_summary_t){0};
}

/* --- flow --- */

static void finish(cairn__publish_t *p, cairn_error_t *err) {
  if (err->code == CAIRN_OK) summarize(p, err);
  cairn__build_reset(&p->build);
  p->over(p, err);
}

static void on_step(cairn_wait_t *w) {
  cairn__publish_t *p = cairn_container_of(w, cairn__publish_t, wait);
  cairn_error_t err = {0};
  cairn_wait_result(w, &err);
  if (err.code == CAIRN_OK && p->reached == PUBLISH_MANIFEST &&
      !p->written.condition_met) {
    p->may_be_visible = false;
    cairn_fail(&err, CAIRN_EXISTS, MANIFEST_NAME " exists already");
  }
  if (err.code != CAIRN_OK) {
    finish(p, &err);
    return;
  }
  p->reached++;
  advance(p);
}

static void advance(cairn__publish_t *p) {
  cairn_error_t none = {0};
  cairn_runtime_t *rt = cairn_kv_runtime(p->base);
  switch (p->reached) {
    case PUBLISH_BUILD:
      cairn_then(cairn_work(rt, build_job, p), &p->wait, on_step);
      return;
    case PUBLISH_DATA:
      cairn_then(send_data(p), &p->wait, on_step);
      return;
    case PUBLISH_SYNC:
      cairn_then(sync_data(p), &p->wait, on_step);
      return;
    case PUBLISH_MANIFEST:
      cairn_then(send_manifest(p), &p->wait, on_step);
      return;
    case PUBLISH_DONE:
      finish(p, &none);
      return;
  }
}

void cairn__publish_start(cairn__publish_t *p) {
  p->build.pack.place = cairn__datalog_place(p->log);
  advance(p);
}
