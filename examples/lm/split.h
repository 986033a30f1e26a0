/* n things over `parts` in order, the first n % parts of them getting one more:
 * part i begins at split_begin(n, parts, i) and ends where i + 1 begins. */
#ifndef LM_SPLIT_H_
#define LM_SPLIT_H_

#include <stdint.h>

static inline int64_t split_begin(int64_t n, int parts, int i) {
  int64_t more = n % parts;
  return n / parts * i + (i < more ? i : more);
}

#endif
