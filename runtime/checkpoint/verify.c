/* Verifying a step, outermost first: whole files against cairn.json, then what
 * the format itself can tell (databases, JSON), then every chunk of every item.
 * All of it also where an earlier part found damage: each part sees what the
 * others cannot, and its place. */
#include "checkpoint/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"

static void tell(cairn__verify_t *v,
                 void (*fn)(void *arg, const cairn_damage_t *damage),
                 void *arg) {
  for (; v->told < v->n; v->told++) {
    const cairn__found_damage_t *f = &v->found[v->told];
    cairn_damage_t d = {f->file,   f->item, f->leaf, f->chunk,
                        f->offset, f->code, f->text, f->follows};
    v->out.damaged += !f->follows;
    if (fn != NULL) fn(arg, &d);
  }
}

static void add_plain(cairn__verify_t *v, const char *file, const char *text) {
  cairn__found_damage_t d = {.file = (char *)file,
                             .text = (char *)text,
                             .offset = -1,
                             .code = CAIRN_CORRUPT};
  cairn__verify_add(v, &d);
}

/* A step under another number's name is another save's. Other names are free:
 * a copy may be called anything. */
static void check_number(cairn__verify_t *v) {
  const cairn_step_t *step = v->step;
  cairn_bytes_t name = cairn_bytes_str(step->path);
  size_t base = cairn__path_base(name);
  char text[128];
  name = cairn_bytes(name.p + base, name.n - base);
  if (step->binding.step < 0 || !cairn__all_digits(name) ||
      step->number == step->binding.step)
    return;
  snprintf(text, sizeof(text),
           "it is of step %" PRId64 ", the directory's name says %" PRId64,
           step->binding.step, step->number);
  add_plain(v, CAIRN__BINDING_FILE, text);
}

static cairn_code_t check_binding(cairn__verify_t *v, cairn_error_t *err) {
  const cairn_step_t *step = v->step;
  v->out.bound = step->bound;
  if (step->bound) {
    check_number(v);
    return cairn__verify_files(v, err);
  }
  if (step->look.bound)
    add_plain(v, CAIRN__BINDING_FILE,
              step->look.why != NULL ? step->look.why : "it cannot be used");
  return cairn__verify_json(v, err);
}

/* What the look found and no part did. */
static void check_look(cairn__verify_t *v) {
  const cairn_step_t *step = v->step;
  if (v->n > 0) return;
  if (step->look.state != CAIRN_STEP_COMPLETE)
    add_plain(v, "", step->look.why);
  else if (step->temporary)
    add_plain(v, "", "temporary: being written, or left by a killed save");
}

static cairn_code_t run(cairn__verify_t *v,
                        void (*fn)(void *arg, const cairn_damage_t *damage),
                        void *arg, cairn_error_t *err) {
  cairn_step_t *step = v->step;
  const char *scope = step->part ? step->items[0].prefix : "";
  cairn_code_t rc =
      cairn__list_blocking(step->kv, scope, true, &v->listing, err);
  if (rc == CAIRN_OK) rc = check_binding(v, err);
  tell(v, fn, arg);
  if (rc == CAIRN_OK) rc = cairn__verify_indexes(v, err);
  tell(v, fn, arg);
  for (size_t i = 0; rc == CAIRN_OK && i < step->n; i++) {
    rc = cairn__verify_item(v, &step->items[i], err);
    tell(v, fn, arg);
  }
  if (rc == CAIRN_OK) check_look(v);
  tell(v, fn, arg);
  if (rc == CAIRN_OK && v->no_memory)
    rc = cairn_fail(err, CAIRN_NO_MEMORY, "verifying %s", step->path);
  return rc;
}

static void release(cairn__verify_t *v) {
  for (size_t i = 0; i < v->n; i++) cairn__found_damage_reset(&v->found[i]);
  free(v->found);
  cairn__listing_free(&v->listing);
}

cairn_code_t cairn_step_verify(
    cairn_step_t *step, void (*fn)(void *arg, const cairn_damage_t *damage),
    void *arg, cairn_verified_t *out, cairn_error_t *err) {
  cairn__verify_t v = {.step = step};
  cairn_code_t rc = run(&v, fn, arg, err);
  *out = v.out;
  release(&v);
  return rc;
}
