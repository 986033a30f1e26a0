/* What a strategy's answer says, read. */
#ifndef CAIRN_STRATEGY_SPEC_READ_H_
#define CAIRN_STRATEGY_SPEC_READ_H_

#include "ocdbt/ocdbt.h"

/* From {"driver": "ocdbt", "base": ..., "config": ...} (ocdbt.md 15): the
 * base's spec or URL, malloc'd, and how to write. Members that only
 * TensorStore's caches and locks care about are passed over; unknown ones are
 * CAIRN_INVALID, by name. */
CAIRN_MUST_CHECK cairn_code_t
cairn__ocdbt_spec_read(const char *spec, char **base,
                       cairn__ocdbt_write_opts_t *opts, cairn_error_t *err);

#endif
