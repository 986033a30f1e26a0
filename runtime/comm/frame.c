/* Frames and what they say: calls as text, ranks as text, two subtrees
 * combined, errors in and out of tails. No messages, no state machine. */
#include <inttypes.h>
#include <stdio.h>

#include "comm/lane.h"

/* Text in a fixed space; what does not fit is left out. */
struct text {
  char *p;
  size_t n, cap;
};

static void put(struct text *t, const char *fmt, ...) CAIRN_PRINTF(2, 3);
static void put(struct text *t, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  int len = vsnprintf(t->p + t->n, t->cap - t->n, fmt, ap);
  va_end(ap);
  if (len < 0) return;
  t->n += (size_t)len < t->cap - t->n ? (size_t)len : t->cap - t->n - 1;
}

/* An op is four letters if they can be printed. */
static void put_op(struct text *t, uint32_t op) {
  char letters[5] = {(char)(op >> 24), (char)(op >> 16), (char)(op >> 8),
                     (char)op, '\0'};
  for (int i = 0; i < 4; i++)
    if (letters[i] < ' ' || letters[i] > '~') {
      put(t, "call %" PRIu32, op);
      return;
    }
  put(t, "%s", letters);
}

const char *cairn__call_text(const cairn__frame_t *f,
                             char out[CAIRN__CALL_TEXT]) {
  struct text t = {out, 0, CAIRN__CALL_TEXT};
  put_op(&t, f->op);
  if (f->phase_name[0] != '\0')
    put(&t, " (%.27s", f->phase_name);
  else
    put(&t, " (phase %" PRIu32, f->phase);
  if (f->step >= 0) put(&t, ", step %" PRId64, f->step);
  put(&t, ")");
  return out;
}

/* The ranks of `set`, neighbours joined: "3, 5-7". Returns how many. */
static int put_ranks(struct text *t, const uint8_t *set, int size) {
  int count = 0;
  for (int r = 0, end; r < size; r = end) {
    end = r + 1;
    if (!cairn__set_has(set, r)) continue;
    while (end < size && cairn__set_has(set, end)) end++;
    put(t, end - r > 1 ? "%s%d-%d" : "%s%d", count > 0 ? ", " : "", r, end - 1);
    count += end - r;
  }
  return count;
}

/* The first few different hosts of the ranks of `set`. */
#define HOSTS_NAMED 6
static void put_hosts(struct text *t, const cairn_comm_t *comm,
                      const uint8_t *set) {
  int named[HOSTS_NAMED], n = 0;
  for (int r = 0; r < comm->size; r++) {
    int i = 0;
    if (!cairn__set_has(set, r)) continue;
    while (i < n && strcmp(comm->hosts[named[i]], comm->hosts[r]) != 0) i++;
    if (i < n) continue;
    if (n == HOSTS_NAMED) {
      put(t, ", ...");
      return;
    }
    put(t, "%s%s", n > 0 ? ", " : "", comm->hosts[r]);
    named[n++] = r;
  }
}

const char *cairn__ranks_text(const cairn_comm_t *comm, const uint8_t *set,
                              char out[CAIRN__RANKS_TEXT]) {
  char ranks[200], hosts[180];
  struct text rt = {ranks, 0, sizeof ranks}, ht = {hosts, 0, sizeof hosts};
  int n = put_ranks(&rt, set, comm->size);
  put_hosts(&ht, comm, set);
  snprintf(out, CAIRN__RANKS_TEXT, "rank%s %s (%s)", n == 1 ? "" : "s", ranks,
           hosts);
  return out;
}

void cairn__frame_of_vote(const cairn__lane_t *lane, const cairn__vote_t *v,
                          cairn__frame_t *out) {
  bool failed = v->err->code != CAIRN_OK;
  *out = (cairn__frame_t){
      .magic = CAIRN__FRAME_MAGIC,
      .kind = CAIRN__UP,
      .seq = lane->seq,
      .step = v->step,
      .hash = failed ? 0 : v->hash, /* its plan may be half made */
      .op = v->op,
      .phase = v->phase,
      .all_bits = v->all_bits,
      .any_bits = v->any_bits,
      .max_value = v->max_value,
      .sender = lane->comm->rank,
      .hash_rank = lane->comm->rank,
  };
  if (v->phase_name != NULL)
    snprintf(out->phase_name, sizeof out->phase_name, "%s", v->phase_name);
}

static void fail_calls(cairn__lane_t *lane, const cairn__frame_t *f) {
  const cairn_comm_t *comm = lane->comm;
  char here[CAIRN__CALL_TEXT], there[CAIRN__CALL_TEXT];
  cairn_error_t err = {0};
  cairn_fail(
      &err, CAIRN_MISMATCH,
      "ranks are in different calls: rank %d (%s) in %s, rank %d (%s) in "
      "%s",
      comm->rank, comm->hosts[comm->rank], cairn__call_text(&lane->sum, here),
      f->sender, comm->hosts[f->sender], cairn__call_text(f, there));
  if (f->seq != lane->sum.seq)
    cairn_within(&err, "vote %" PRIu64 " here, %" PRIu64 " there",
                 lane->sum.seq, f->seq);
  err.rank = f->sender;
  cairn__verdict_add(&lane->verdict, CAIRN__W_CALLS, f->sender, &err);
}

static void fail_hash(cairn__lane_t *lane, const cairn__frame_t *f) {
  const cairn_comm_t *comm = lane->comm;
  const cairn__frame_t *sum = &lane->sum;
  char call[CAIRN__CALL_TEXT];
  cairn_error_t err = {0};
  cairn_fail(&err, CAIRN_MISMATCH,
             "ranks brought different options or plans to %s: rank %d (%s) "
             "%016" PRIx64 ", rank %d (%s) %016" PRIx64,
             cairn__call_text(sum, call), sum->hash_rank,
             comm->hosts[sum->hash_rank], sum->hash, f->hash_rank,
             comm->hosts[f->hash_rank], f->hash);
  err.rank = f->hash_rank;
  cairn__verdict_add(&lane->verdict, CAIRN__W_VOTE, f->hash_rank, &err);
}

void cairn__frame_combine(cairn__lane_t *lane, const cairn__frame_t *f) {
  cairn__frame_t *sum = &lane->sum;
  bool other_call =
      f->op != sum->op || f->phase != sum->phase || f->seq != sum->seq;
  /* Steps that differ are told once: after that the error is agreed on. */
  bool told = lane->verdict.weight == CAIRN__W_AGREED;
  if (other_call || (f->step != sum->step && !told)) fail_calls(lane, f);
  /* How many votes the two calls still have is not known: no vote after this
   * one could be told from the other call's. */
  if (other_call) sum->flags |= CAIRN__F_ENDS;
  sum->flags |= f->flags & CAIRN__F_ENDS;
  sum->all_bits &= f->all_bits;
  sum->any_bits |= f->any_bits;
  if (sum->max_value < f->max_value) sum->max_value = f->max_value;
  if (f->hash == 0) return;
  if (sum->hash == 0) {
    sum->hash = f->hash;
    sum->hash_rank = f->hash_rank;
  } else if (sum->hash != f->hash) {
    fail_hash(lane, f);
  }
}

void cairn__verdict_clear(cairn__verdict_t *v) {
  v->weight = CAIRN__W_NONE;
  v->err.code = CAIRN_OK;
  v->err.message[0] = '\0';
}

void cairn__verdict_add(cairn__verdict_t *v, cairn__weight_t weight, int from,
                        const cairn_error_t *err) {
  if (weight < v->weight || (weight == v->weight && from >= v->from)) return;
  v->weight = weight;
  v->from = from;
  v->err = *err;
}

bool cairn__tail_length(const cairn__lane_t *lane, const cairn__frame_t *f,
                        size_t *n) {
  int size = lane->comm->size;
  if (f->magic != CAIRN__FRAME_MAGIC || f->kind >= CAIRN__FRAME_KINDS)
    return false;
  if (f->text >= CAIRN_MESSAGE_BYTES || f->sender < 0 || f->sender >= size ||
      f->hash_rank < 0 || f->hash_rank >= size || f->origin >= size ||
      f->from < 0 || f->from >= size)
    return false;
  *n = f->text + ((f->flags & CAIRN__F_MISSING) != 0 ? lane->bitmap_n : 0);
  return true;
}

size_t cairn__tail_write(const cairn__lane_t *lane, cairn__frame_t *f,
                         uint8_t *tail) {
  const cairn__verdict_t *v = &lane->verdict;
  f->code = (int32_t)v->err.code;
  f->sys_errno = v->err.sys_errno;
  f->origin = v->err.rank;
  f->from = v->from;
  f->weight = (uint8_t)v->weight;
  f->text = 0;
  f->flags &= (uint8_t)~CAIRN__F_MISSING;
  if (v->weight != CAIRN__W_NONE) {
    f->text = (uint16_t)strlen(v->err.message);
    memcpy(tail, v->err.message, f->text);
  }
  if (!lane->any_missing) return f->text;
  f->flags |= CAIRN__F_MISSING;
  memcpy(tail + f->text, lane->missing, lane->bitmap_n);
  return f->text + lane->bitmap_n;
}

void cairn__verdict_read(cairn__verdict_t *v, const cairn__frame_t *f,
                         const uint8_t *tail) {
  cairn_error_t err = {.code = (cairn_code_t)f->code,
                       .sys_errno = f->sys_errno,
                       .rank = f->origin};
  if (f->weight == CAIRN__W_NONE) return;
  memcpy(err.message, tail, f->text);
  cairn__verdict_add(v, (cairn__weight_t)f->weight, f->from, &err);
}

void cairn__tail_read(cairn__lane_t *lane, const cairn__frame_t *f,
                      const uint8_t *tail) {
  cairn__verdict_read(&lane->verdict, f, tail);
  if ((f->flags & CAIRN__F_MISSING) == 0) return;
  lane->any_missing = true;
  for (size_t i = 0; i < lane->bitmap_n; i++)
    lane->missing[i] |= tail[f->text + i];
}

/* Puts text after the message; the message, not the text, is cut if both do not
 * fit. */
static void append(cairn_error_t *err, const char *text) {
  size_t n = strlen(err->message), more = strlen(text);
  size_t room = sizeof err->message - 1 - more;
  if (n > room) {
    n = room - 3;
    while (n > 0 && ((unsigned char)err->message[n] & 0xc0) == 0x80) n--;
    memcpy(err->message + n, "...", 3);
    n += 3;
  }
  memcpy(err->message + n, text, more + 1);
}

/* True if r's way to the root leads through a missing rank. */
static bool is_behind(const cairn__lane_t *lane, int r) {
  const int *parents = lane->comm->parents;
  if (cairn__set_has(lane->missing, r)) return false;
  while ((r = parents[r]) >= 0)
    if (cairn__set_has(lane->missing, r)) return true;
  return false;
}

/* Who is missing; then who was not heard from for that reason only. Returns the
 * lowest missing rank. */
static int missing_text(const cairn__lane_t *lane, char *out, size_t cap) {
  char ranks[CAIRN__RANKS_TEXT], list[200] = "";
  struct text lt = {list, 0, sizeof list};
  int first = -1, start = -1;
  for (int r = 0; r <= lane->comm->size; r++) {
    bool in = r < lane->comm->size;
    if (in && first < 0 && cairn__set_has(lane->missing, r)) first = r;
    bool behind = in && is_behind(lane, r);
    if (behind && start < 0) start = r;
    if (behind || start < 0) continue;
    put(&lt, r - start > 1 ? "%s%d-%d" : "%s%d", lt.n > 0 ? ", " : "", start,
        r - 1);
    start = -1;
  }
  cairn__ranks_text(lane->comm, lane->missing, ranks);
  snprintf(out, cap, "no word from %s%s%s", ranks,
           lt.n > 0 ? "; behind, perhaps well: " : "", list);
  return first;
}

void cairn__verdict_also(cairn__verdict_t *v, const char *text) {
  char also[CAIRN_MESSAGE_BYTES / 2];
  snprintf(also, sizeof also, "; also, %.460s", text);
  append(&v->err, also);
}

/* The origin of an error that has none yet. */
static void seal_origin(cairn__lane_t *lane) {
  char where[CAIRN__HOST_BYTES + 32];
  const cairn_comm_t *comm = lane->comm;
  cairn__verdict_t *v = &lane->verdict;
  if (v->weight == CAIRN__W_NONE || v->err.rank >= 0) return;
  v->err.rank = v->from;
  if (comm->size == 1 || v->weight == CAIRN__W_LATE) return;
  snprintf(where, sizeof where, " (rank %d, host %s)", v->from,
           comm->hosts[v->from]);
  append(&v->err, where);
}

void cairn__verdict_seal(cairn__lane_t *lane) {
  char who[700], call[CAIRN__CALL_TEXT];
  cairn__verdict_t *v = &lane->verdict;
  seal_origin(lane);
  if (!lane->any_missing) return;
  int first = missing_text(lane, who, sizeof who);
  if (v->weight > CAIRN__W_LATE) { /* what a rank brought stays the error */
    cairn__verdict_also(v, who);
    return;
  }
  v->err = (cairn_error_t){0};
  cairn_fail(&v->err, CAIRN_TIMED_OUT, "%s within %" PRId64 " ms in %s", who,
             lane->deadline_ms, cairn__call_text(&lane->sum, call));
  v->err.rank = first;
}
