/* The private names of <cairn/json.h>. */
#ifndef CAIRN_BASE_JSON_H_
#define CAIRN_BASE_JSON_H_

#include "base/buf.h"
#include "cairn/json.h"

#define CAIRN__JSON_ARRAY CAIRN_JSON_ARRAY
#define CAIRN__JSON_BIGINT CAIRN_JSON_BIGINT
#define CAIRN__JSON_BOOL CAIRN_JSON_BOOL
#define CAIRN__JSON_COMPACT CAIRN_JSON_COMPACT
#define CAIRN__JSON_INDENT CAIRN_JSON_INDENT
#define CAIRN__JSON_INT CAIRN_JSON_INT
#define CAIRN__JSON_NULL CAIRN_JSON_NULL
#define CAIRN__JSON_OBJECT CAIRN_JSON_OBJECT
#define CAIRN__JSON_PYTHON CAIRN_JSON_PYTHON
#define CAIRN__JSON_REAL CAIRN_JSON_REAL
#define CAIRN__JSON_STRING CAIRN_JSON_STRING
#define cairn__json cairn_json
#define cairn__json_add cairn_json_add
#define cairn__json_add_int cairn_json_add_int
#define cairn__json_add_str cairn_json_add_str
#define cairn__json_at cairn_json_at
#define cairn__json_block cairn_json_block
#define cairn__json_copy cairn_json_copy
#define cairn__json_dialect cairn_json_dialect
#define cairn__json_dialect_t cairn_json_dialect_t
#define cairn__json_doc cairn_json_doc
#define cairn__json_doc_t cairn_json_doc_t
#define cairn__json_emit cairn_json_emit
#define cairn__json_emit_real cairn_json_emit_real
#define cairn__json_emit_str cairn_json_emit_str
#define cairn__json_free cairn_json_free
#define cairn__json_get cairn_json_get
#define cairn__json_get_bytes cairn_json_get_bytes
#define cairn__json_int cairn_json_int
#define cairn__json_is_str cairn_json_is_str
#define cairn__json_kind cairn_json_kind
#define cairn__json_kind_t cairn_json_kind_t
#define cairn__json_limits cairn_json_limits
#define cairn__json_limits_t cairn_json_limits_t
#define cairn__json_parse cairn_json_parse
#define cairn__json_t cairn_json_t
#define cairn__py_repr cairn_py_repr

#endif
