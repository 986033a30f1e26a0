/* What the JSON files share: the arena, and decimal digits of a double. */
#ifndef CAIRN_BASE_JSON_IMPL_H_
#define CAIRN_BASE_JSON_IMPL_H_

#include "cairn/json.h"

#define CAIRN_JSON_DEPTH 512      /* unless the limits say otherwise */
#define CAIRN_JSON_MAX_DEPTH 2000 /* whatever the limits say */

/* n bytes of the arena, aligned for any node; NULL when memory is out. */
void *cairn__json_alloc(cairn_json_doc_t *doc, size_t n);

/* A node of that kind as the last child of parent (the root when NULL), without
 * a key; NULL when memory is out. */
cairn_json_t *cairn__json_append(cairn_json_doc_t *doc, cairn_json_t *parent,
                                 cairn_json_kind_t kind);

/* Of members with the same key, leaves the place of the first and the value of
 * the last. False when memory is out. */
bool cairn__json_merge(cairn_json_t *obj);

/* Of the decimal grammar of JSON, in any locale of the process; infinity when
 * too large. */
double cairn__json_strtod(const char *text);

/* A finite double above 0 as 0.d1d2d3... * 10^point, d1 not 0. */
typedef struct cairn__digits {
  char d[20];
  int n, point;
} cairn__digits_t;

/* The fewest digits that read back as r; of several such, the nearest to r
 * (Python's repr). */
void cairn__digits_shortest(double r, cairn__digits_t *out);

/* The digits of the Grisu2 algorithm, which TensorStore's JSON library uses:
 * they read back as r, and in one case of a thousand are not the fewest. */
void cairn__digits_grisu2(double r, cairn__digits_t *out);

#endif
