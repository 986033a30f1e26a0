#include "checkpoint/owner_record.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/base.h"
#include "cairn/json.h"

/* An owner on another host is taken for dead after six missed beats. */
#define BEAT_LIMIT_NS (INT64_C(120) * 1000000000)

#define STAGING "-cairn-"

void cairn__owner_emit(const char *id, cairn_buf_t *out) {
  cairn__process_t self;
  cairn__process_self(&self);
  cairn_buf_printf(out, "{\"cairn_owner\":1,\"id\":\"%s\",\"host\":", id);
  cairn_json_emit_str(cairn_bytes_str(self.host), CAIRN_JSON_PYTHON, out);
  cairn_buf_printf(out,
                   ",\"place\":\"%016" PRIx64 "\",\"pid\":%" PRId64
                   ",\"start\":%" PRId64 ",\"beat_ns\":%" PRId64 "}",
                   self.place, self.pid, self.start, cairn__wall_ns());
}

static bool copy_text(const cairn_json_t *v, char *out, size_t cap) {
  if (v == NULL || v->kind != CAIRN_JSON_STRING || v->str.n >= cap)
    return false;
  if (v->str.n != 0) memcpy(out, v->str.p, v->str.n);
  out[v->str.n] = 0;
  return true;
}

bool cairn__owner_parse(cairn_bytes_t text, cairn__owner_t *out) {
  cairn_error_t ignored = {0};
  cairn_json_doc_t doc = {0};
  char place[17];
  *out = (cairn__owner_t){0};
  if (cairn_json_parse(text, NULL, &doc, &ignored) != CAIRN_OK) return false;
  const cairn_json_t *r = doc.root;
  cairn__process_t *p = &out->process;
  bool ok = copy_text(cairn_json_get(r, "id"), out->id, sizeof(out->id)) &&
            copy_text(cairn_json_get(r, "host"), p->host, sizeof(p->host)) &&
            copy_text(cairn_json_get(r, "place"), place, sizeof(place)) &&
            cairn__unhex64(cairn_bytes_str(place), &p->place) &&
            cairn_json_int(cairn_json_get(r, "pid"), &p->pid) &&
            cairn_json_int(cairn_json_get(r, "start"), &p->start) &&
            cairn_json_int(cairn_json_get(r, "beat_ns"), &out->beat_ns);
  cairn_json_free(&doc);
  return ok;
}

static bool is_self(const cairn__process_t *p) {
  cairn__process_t self;
  cairn__process_self(&self);
  return p->place == self.place && p->pid == self.pid && p->start == self.start;
}

bool cairn__owner_alive(const cairn__owner_t *owner) {
  switch (cairn__process_life(&owner->process)) {
    case CAIRN__ALIVE:
      return !is_self(&owner->process) ||
             cairn__owner_is_live(owner->id, sizeof(owner->id));
    case CAIRN__DEAD:
      return false;
    default:
      return cairn__wall_ns() - owner->beat_ns < BEAT_LIMIT_NS;
  }
}

void cairn__owner_staging_suffix(const char *id, char *out, size_t cap) {
  cairn__process_t self;
  cairn__process_self(&self);
  snprintf(out, cap, STAGING "%016" PRIx64 "-%" PRId64 "-%" PRId64 "-%.8s",
           self.place, self.pid, self.start, id);
}

bool cairn__owner_staging_is_dead(cairn_bytes_t name) {
  char text[256], place[17], id[9];
  cairn__process_t p = {0};
  if (name.n >= sizeof(text)) return false;
  memcpy(text, name.p, name.n);
  text[name.n] = 0;
  char *at = strstr(text, STAGING);
  if (at == NULL) return false;
  if (sscanf(at, STAGING "%16[0-9a-f]-%" SCNd64 "-%" SCNd64 "-%8[0-9a-f]",
             place, &p.pid, &p.start, id) != 4 ||
      !cairn__unhex64(cairn_bytes_str(place), &p.place))
    return false;
  if (is_self(&p)) return !cairn__owner_is_live(id, strlen(id));
  return cairn__process_life(&p) == CAIRN__DEAD;
}
