#include <limits.h>
#include <stdlib.h>

#include "base/base.h"
#include "manager/internal.h"

/* A whole number from the environment, if it is set. */
static cairn_code_t env_number(const char *name, int64_t *out,
                               cairn_error_t *err) {
  const char *text = getenv(name);
  if (text == NULL) return CAIRN_OK;
  bool minus = text[0] == '-';
  int64_t v;
  if (!cairn__decimal(cairn_bytes_str(text + minus), &v))
    return cairn_fail(err, CAIRN_INVALID, "%s=\"%s\" is not a number", name,
                      text);
  *out = minus ? -v : v;
  return CAIRN_OK;
}

static cairn_code_t from_environment(cairn_manager_opts_t *o,
                                     cairn_error_t *err) {
  cairn_code_t rc =
      env_number("CAIRN_SAVE_INTERVAL_STEPS", &o->save_interval_steps, err);
  if (rc != CAIRN_OK) return rc;
  if (getenv("CAIRN_MAX_TO_KEEP") == NULL) return CAIRN_OK;
  rc = env_number("CAIRN_MAX_TO_KEEP", &o->max_to_keep, err);
  if (rc == CAIRN_OK && o->max_to_keep == 0)
    rc = cairn_fail(err, CAIRN_INVALID,
                    "CAIRN_MAX_TO_KEEP=0: the newest step is always kept; -1 "
                    "keeps all");
  return rc;
}

static cairn_code_t check_prefix(const char *prefix, cairn_error_t *err) {
  if (prefix == NULL) return CAIRN_OK;
  if (prefix[0] == 0 || prefix[0] == '.' || strchr(prefix, '/') != NULL ||
      strlen(prefix) >= sizeof(((cairn__step_format_t *)0)->prefix) ||
      cairn__name_is_temporary(cairn_bytes_str(prefix)))
    return cairn_fail(err, CAIRN_INVALID,
                      "step_prefix \"%s\" cannot begin a directory's name",
                      prefix);
  return CAIRN_OK;
}

static cairn_code_t check(const cairn_manager_opts_t *o, cairn_error_t *err) {
  if (o->save_interval_steps < 1)
    return cairn_fail(err, CAIRN_INVALID,
                      "save_interval_steps %lld: want at least 1",
                      (long long)o->save_interval_steps);
  if (o->max_to_keep < -1)
    return cairn_fail(err, CAIRN_INVALID,
                      "max_to_keep %lld: want a positive number, or -1 for all",
                      (long long)o->max_to_keep);
  if (o->step_digits < 0 || o->step_digits > 19)
    return cairn_fail(err, CAIRN_INVALID, "step_digits %d: want 0 to 19",
                      o->step_digits);
  return check_prefix(o->step_prefix, err);
}

cairn_code_t cairn__manager_opts(const cairn_manager_opts_t *in,
                                 cairn_manager_opts_t *out,
                                 cairn_error_t *err) {
  cairn_code_t rc = cairn__options_take(
      in, out, sizeof(*out), CAIRN__SIZE_UP_TO(cairn_manager_opts_t, read_only),
      err);
  if (out->save_interval_steps == 0) out->save_interval_steps = 1;
  if (rc == CAIRN_OK) rc = from_environment(out, err);
  if (rc == CAIRN_OK) rc = check(out, err);
  return rc == CAIRN_OK ? CAIRN_OK : cairn_within(err, "manager options");
}

cairn_code_t cairn__manager_save_opts(const cairn_manager_save_opts_t *in,
                                      cairn_manager_save_opts_t *out,
                                      cairn_error_t *err) {
  if (cairn__options_take(in, out, sizeof(*out),
                          CAIRN__SIZE_UP_TO(cairn_manager_save_opts_t, save),
                          err) == CAIRN_OK)
    return CAIRN_OK;
  return cairn_within(err, "save options");
}

void cairn__manager_opts_text(const cairn_manager_t *m, cairn_buf_t *out) {
  const cairn_manager_opts_t *o = &m->opts;
  const cairn_checkpointer_opts_t *c = &o->checkpointer;
  cairn_buf_printf(out, "root %s\n", m->root != NULL ? m->root : "(none)");
  cairn_buf_printf(out, "step_prefix \"%s\"\nstep_digits %d\n",
                   m->format.prefix, m->format.digits);
  cairn_buf_printf(out,
                   "save_interval_steps %lld\nmax_to_keep %lld\n"
                   "no_create %d\nread_only %d\n",
                   (long long)o->save_interval_steps, (long long)o->max_to_keep,
                   o->no_create, o->read_only);
  cairn_buf_printf(out,
                   "profile %d\nchunk_bytes %lld\nno_compression %d\n"
                   "not_durable %d\ndeadline_ms %lld\n",
                   (int)c->profile, (long long)c->chunk_bytes,
                   c->no_compression, c->not_durable,
                   (long long)c->deadline_ms);
}
