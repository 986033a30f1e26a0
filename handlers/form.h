/* The forms a leaf has on disk: the value types of _METADATA. */
#ifndef CAIRN_HANDLERS_FORM_H_
#define CAIRN_HANDLERS_FORM_H_

#include "cairn/tree.h"

/* X(name, value_type, skip_deserialize, has an array in the store). Numbers
 * travel between ranks in descriptions. */
#define CAIRN__FORMS(X)                    \
  X(JAX, "jax.Array", false, true)         \
  X(NUMPY, "np.ndarray", false, true)      \
  X(SCALAR, "scalar", false, true)         \
  X(STRING, "string", false, false)        \
  X(NONE, "None", true, false)             \
  X(DICT, "Dict", true, false)             \
  X(LIST, "List", true, false)             \
  X(TUPLE, "Tuple", true, false)           \
  X(NAMEDTUPLE, "NamedTuple", true, false) \
  X(PLACEHOLDER, "placeholder", false, false)

typedef enum cairn__form {
#define CAIRN_X(name, type, skip, stored) CAIRN__FORM_##name,
  CAIRN__FORMS(CAIRN_X)
#undef CAIRN_X
      CAIRN__FORM_OTHER, /* a value type that we do not know */
  CAIRN__FORM_COUNT = CAIRN__FORM_OTHER
} cairn__form_t;

typedef struct cairn__form_info {
  const char *value_type;
  bool skip;   /* an empty node: skip_deserialize */
  bool stored; /* an array or scalar in the item's store */
} cairn__form_info_t;
/* Of a known form. */
const cairn__form_info_t *cairn__form_info(cairn__form_t form);

cairn__form_t cairn__form_named(cairn_bytes_t value_type);
/* The form that a save gives to a leaf. */
cairn__form_t cairn__form_of(const cairn_leaf_t *leaf);
/* May a stored leaf of that form fill this target? (A placeholder takes
 * anything, for nothing is read.) */
bool cairn__form_fits(cairn__form_t form, const cairn_leaf_t *target);
/* What a target is, for messages: "array", "string", ... */
const char *cairn__kind_text(cairn_leaf_kind_t kind);

#endif
