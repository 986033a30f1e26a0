/* None, {}, [], () and placeholders: entries of `_METADATA` and nothing else.
 */
#include "leaf.h"

const cairn__leaf_ops_t cairn__leaf_empty = {0};

const cairn__leaf_ops_t *cairn__leaf_ops(cairn__form_t form) {
  switch (form) {
    case CAIRN__FORM_JAX:
      return &cairn__leaf_array;
    case CAIRN__FORM_NUMPY:
      return &cairn__leaf_numpy;
    case CAIRN__FORM_SCALAR:
      return &cairn__leaf_scalar;
    case CAIRN__FORM_STRING:
      return &cairn__leaf_string;
    default:
      return &cairn__leaf_empty;
  }
}
