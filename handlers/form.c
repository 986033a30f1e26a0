/* The table of forms, and what goes with what. */
#include "form.h"

static const cairn__form_info_t forms[] = {
#define CAIRN_X(name, type, skip, stored) {type, skip, stored},
    CAIRN__FORMS(CAIRN_X)
#undef CAIRN_X
};

const cairn__form_info_t *cairn__form_info(cairn__form_t form) {
  return &forms[form];
}

cairn__form_t cairn__form_named(cairn_bytes_t value_type) {
  for (int i = 0; i < CAIRN__FORM_COUNT; i++) {
    cairn_bytes_t known = cairn_bytes_str(forms[i].value_type);
    if (known.n == value_type.n && memcmp(known.p, value_type.p, known.n) == 0)
      return (cairn__form_t)i;
  }
  return CAIRN__FORM_OTHER;
}

cairn__form_t cairn__form_of(const cairn_leaf_t *leaf) {
  switch (leaf->kind) {
    case CAIRN_LEAF_ARRAY:
      return leaf->sharding != NULL ? CAIRN__FORM_JAX : CAIRN__FORM_NUMPY;
    case CAIRN_LEAF_SCALAR:
      return CAIRN__FORM_SCALAR;
    case CAIRN_LEAF_STRING:
      return CAIRN__FORM_STRING;
    case CAIRN_LEAF_NONE:
      return CAIRN__FORM_NONE;
    case CAIRN_LEAF_EMPTY_DICT:
      return CAIRN__FORM_DICT;
    case CAIRN_LEAF_EMPTY_LIST:
      return CAIRN__FORM_LIST;
    case CAIRN_LEAF_EMPTY_TUPLE:
      return CAIRN__FORM_TUPLE;
    case CAIRN_LEAF_PLACEHOLDER:
      return CAIRN__FORM_PLACEHOLDER;
  }
  return CAIRN__FORM_OTHER;
}

/* Whether rank and type agree is seen when the array is opened; an empty named
 * tuple comes back as None from Orbax without rich types. */
bool cairn__form_fits(cairn__form_t form, const cairn_leaf_t *target) {
  if (target->kind == CAIRN_LEAF_PLACEHOLDER) return true;
  if (form == CAIRN__FORM_OTHER) return false;
  if (target->kind == CAIRN_LEAF_ARRAY || target->kind == CAIRN_LEAF_SCALAR)
    return forms[form].stored;
  if (form == CAIRN__FORM_NAMEDTUPLE)
    return target->kind == CAIRN_LEAF_NONE ||
           target->kind == CAIRN_LEAF_EMPTY_TUPLE;
  return form == cairn__form_of(target);
}

const char *cairn__kind_text(cairn_leaf_kind_t kind) {
  static const char *const text[] = {
      [CAIRN_LEAF_ARRAY] = "an array",
      [CAIRN_LEAF_SCALAR] = "a scalar",
      [CAIRN_LEAF_STRING] = "a string",
      [CAIRN_LEAF_NONE] = "None",
      [CAIRN_LEAF_EMPTY_DICT] = "an empty dict",
      [CAIRN_LEAF_EMPTY_LIST] = "an empty list",
      [CAIRN_LEAF_EMPTY_TUPLE] = "an empty tuple",
      [CAIRN_LEAF_PLACEHOLDER] = "a placeholder",
  };
  return text[kind];
}
