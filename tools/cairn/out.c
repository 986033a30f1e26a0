#include "out.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tool.h"

void out_text(const char *s) {
  fputs(s, stdout);
}

void out_printf(const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  vfprintf(stdout, fmt, ap);
  va_end(ap);
}

void out_bytes(cairn_bytes_t b) {
  if (b.n != 0) fwrite(b.p, 1, b.n, stdout);
}

bool out_end(void) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return true;
  tool_note("standard output: %s", strerror(errno));
  return false;
}

/* --- for people --- */

void put_name(cairn_buf_t *b, cairn_bytes_t s) {
  for (size_t i = 0; i < s.n; i++) {
    uint8_t c = s.p[i];
    if (c == '\\')
      cairn_buf_put_str(b, "\\\\");
    else if (c < ' ' || c == 127)
      cairn_buf_printf(b, "\\x%02x", c);
    else
      cairn_buf_put_u8(b, c);
  }
}

void out_name(cairn_bytes_t s) {
  cairn_buf_t b = {0};
  put_name(&b, s);
  out_bytes(cairn_buf_bytes(&b));
  cairn_buf_reset(&b);
}

void put_size(cairn_buf_t *b, int64_t bytes) {
  static const char units[] = "kMGTPE";
  double v = (double)bytes;
  size_t u = 0;
  if (bytes < 1000) {
    cairn_buf_printf(b, "%" PRId64 " B", bytes);
    return;
  }
  for (v /= 1000; v >= 999.95 && units[u + 1] != 0; u++) v /= 1000;
  cairn_buf_printf(b, "%.1f %cB", v, units[u]);
}

/* --- JSON --- */

void json_str(cairn_buf_t *b, cairn_bytes_t s) {
  cairn_json_emit_str(s, CAIRN_JSON_PYTHON, b);
}

void json_cstr(cairn_buf_t *b, const char *s) {
  if (s != NULL)
    json_str(b, cairn_bytes_str(s));
  else
    cairn_buf_put_str(b, "null");
}

void json_real(cairn_buf_t *b, double v) {
  if (isfinite(v))
    cairn_json_emit_real(v, CAIRN_JSON_PYTHON, b);
  else
    cairn_buf_printf(b, "{\"$float\": \"%s\"}",
                     isnan(v) ? "NaN"
                     : v > 0  ? "Infinity"
                              : "-Infinity");
}

void json_uint(cairn_buf_t *b, uint64_t v) {
  if (v <= INT64_MAX)
    cairn_buf_printf(b, "%" PRIu64, v);
  else
    cairn_buf_printf(b, "{\"$int\": \"%" PRIu64 "\"}", v);
}

static void json_children(cairn_buf_t *b, const cairn_json_t *v, bool keys) {
  for (const cairn_json_t *c = v->child; c != NULL; c = c->next) {
    if (c != v->child) cairn_buf_put_str(b, ", ");
    if (keys) {
      json_str(b, c->key);
      cairn_buf_put_str(b, ": ");
    }
    json_value(b, c);
  }
}

/* As deep as the parser allowed. */
void json_value(cairn_buf_t *b, const cairn_json_t *v) {
  switch (v->kind) {
    case CAIRN_JSON_REAL:
      json_real(b, v->r);
      break;
    case CAIRN_JSON_BIGINT:
      cairn_buf_put_str(b, "{\"$int\": ");
      json_str(b, v->str);
      cairn_buf_put_str(b, "}");
      break;
    case CAIRN_JSON_ARRAY:
      cairn_buf_put_str(b, "[");
      json_children(b, v, false);
      cairn_buf_put_str(b, "]");
      break;
    case CAIRN_JSON_OBJECT:
      cairn_buf_put_str(b, "{");
      json_children(b, v, true);
      cairn_buf_put_str(b, "}");
      break;
    default:
      cairn_json_emit(v, CAIRN_JSON_PYTHON, b);
  }
}

/* --- tables --- */

#define WIDEST 64 /* a hash; cells that are wider push what follows them */

void table_init(table_t *t, const char *align, const char *const *heads) {
  *t = (table_t){.columns = strlen(align), .right = align};
  for (size_t i = 0; i < t->columns; i++) table_text(t, heads[i]);
}

void table_text(table_t *t, const char *cell) {
  cairn_buf_put(&t->text, cell, strlen(cell) + 1);
  t->cells++;
}

void table_cell(table_t *t, cairn_buf_t *cell) {
  cairn_buf_put(&t->text, cell->p, cell->n);
  cairn_buf_put_u8(&t->text, 0);
  t->cells++;
  cairn_buf_reset(cell);
}

/* Characters, not bytes; wide ones may still push a column. */
static size_t width(const char *s) {
  size_t n = 0;
  for (; *s != 0; s++) n += ((unsigned char)*s & 0xc0) != 0x80;
  return n;
}

/* The rest of the line after the last cell that holds anything is left out. */
static void print_row(const table_t *t, const char *cell,
                      const size_t *widths) {
  size_t blanks = 0;
  for (size_t c = 0; c < t->columns; c++, cell += strlen(cell) + 1) {
    size_t w = width(cell), before = c == 0 ? 0 : 2;
    size_t pad = w < widths[c] ? widths[c] - w : 0;
    if (t->right[c] == 'r') {
      before += pad;
      pad = 0;
    }
    blanks += before;
    if (cell[0] != 0) {
      out_printf("%*s%s", (int)blanks, "", cell);
      blanks = 0;
    }
    blanks += pad;
  }
  out_text("\n");
}

/* One long cell does not make its whole column as wide: its row is pushed. */
static size_t column_width(const char *cell) {
  size_t w = width(cell);
  return w <= WIDEST ? w : 0;
}

void table_print(table_t *t, const char *indent) {
  size_t *widths = calloc(t->columns, sizeof *widths);
  const char *cell = (const char *)t->text.p;
  if (widths == NULL || t->text.failed) {
    tool_note("out of memory for a table");
  } else {
    for (size_t i = 0; i < t->cells; i++, cell += strlen(cell) + 1)
      if (column_width(cell) > widths[i % t->columns])
        widths[i % t->columns] = column_width(cell);
    cell = (const char *)t->text.p;
    for (size_t i = 0; i < t->cells; i++, cell += strlen(cell) + 1) {
      if (i % t->columns != 0) continue;
      out_text(indent);
      print_row(t, cell, widths);
    }
  }
  free(widths);
  cairn_buf_reset(&t->text);
}
