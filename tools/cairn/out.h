/* Standard output: text, tables, and the JSON that the tool prints. */
#ifndef CAIRN_TOOL_OUT_H_
#define CAIRN_TOOL_OUT_H_

#include "cairn/json.h"

void out_text(const char *s);
void out_printf(const char *fmt, ...) CAIRN_PRINTF(1, 2);
void out_bytes(cairn_bytes_t b);
/* Gives what is buffered to the system. False after a printed error. */
bool out_end(void);

/* For people: what would move the cursor or end the line is escaped. */
void out_name(cairn_bytes_t s);
void put_name(cairn_buf_t *b, cairn_bytes_t s);
/* 1500 as "1.5 kB", 13 000 000 as "13.0 MB"; up to 999 as they are. */
void put_size(cairn_buf_t *b, int64_t bytes);

/* JSON: ASCII only. What JSON has no words for: {"$float": "NaN"}, and integers
 * beyond 64 bits {"$int": "123"}. */
void json_str(cairn_buf_t *b, cairn_bytes_t s);
void json_cstr(cairn_buf_t *b, const char *s); /* NULL: null */
void json_real(cairn_buf_t *b, double v);
void json_uint(cairn_buf_t *b, uint64_t v);
void json_value(cairn_buf_t *b, const cairn_json_t *v);

/* A table: cells are added row by row and printed with their columns aligned,
 * but for what comes after a very long one. */
typedef struct table {
  size_t columns;
  const char *right; /* a letter for each column: 'r' to the right, else left */
  cairn_buf_t text;  /* cells, each NUL-ended */
  size_t cells;
} table_t;

void table_init(table_t *t, const char *align, const char *const *heads);
void table_cell(table_t *t, cairn_buf_t *cell); /* and resets it */
void table_text(table_t *t, const char *cell);
void table_print(table_t *t, const char *indent); /* and frees */

#endif
