/* cairn cat: one leaf, printed or written to a file; or the value of an item
 * that has no leaves. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "element.h"
#include "leaf.h"
#include "npy.h"
#include "out.h"
#include "tool.h"

enum form { PRINT, JSON, NPY, RAW };

struct cat {
  cairn_step_t *step;
  enum form form;
  const char *file; /* NPY, RAW; "-": standard output */
  const char *item;
  const cairn_leaf_info_t *leaf;
};

/* --- finding the leaf --- */

static bool text_is(cairn_bytes_t b, const char *s) {
  return b.n == strlen(s) && memcmp(b.p, s, b.n) == 0;
}

/* "params/w" or "params.w": the keys joined, as text. */
static bool is_leaf(const cairn_leaf_info_t *leaf, const char *name) {
  cairn_buf_t b = {0};
  if (text_is(leaf->name, name)) return true;
  for (size_t i = 0; i < leaf->path_n; i++) {
    const cairn_key_t *k = &leaf->path[i];
    if (i > 0) cairn_buf_put_str(&b, "/");
    if (k->type == CAIRN_KEY_SEQ || k->type == CAIRN_KEY_INT)
      cairn_buf_printf(&b, "%" PRId64, k->index);
    else
      cairn_buf_put(&b, k->name.p, k->name.n);
  }
  bool same = text_is(cairn_buf_bytes(&b), name);
  cairn_buf_reset(&b);
  return same;
}

static const cairn_leaf_info_t *leaf_of(const cairn_item_info_t *info,
                                        const char *name) {
  for (size_t i = 0; i < info->n; i++)
    if (text_is(info->leaves[i].name, name)) return &info->leaves[i];
  for (size_t i = 0; i < info->n; i++)
    if (is_leaf(&info->leaves[i], name)) return &info->leaves[i];
  return NULL;
}

/* Items are named by the path, so one that is asked for as a leaf is shown the
 * way. */
static cairn_code_t no_leaf(const struct cat *c, const char *name,
                            cairn_error_t *err) {
  const char *path = cairn_step_path(c->step);
  for (size_t i = 0; i < cairn_step_num_items(c->step); i++)
    if (name[0] != 0 && strcmp(cairn_step_item(c->step, i), name) == 0)
      return cairn_fail(err, CAIRN_NOT_FOUND,
                        "no leaf \"%s\" in %s, but an item: its path is %s/%s",
                        name, path, path, name);
  return cairn_fail(err, CAIRN_NOT_FOUND, "no leaf \"%s\" in %s", name, path);
}

/* Looks through all items; why one cannot be looked at is told only if there is
 * no tree that can. */
static cairn_code_t find_leaf(struct cat *c, const char *name,
                              cairn_error_t *err) {
  cairn_error_t unsupported = {0};
  bool looked = false;
  for (size_t i = 0; i < cairn_step_num_items(c->step); i++) {
    const char *item = cairn_step_item(c->step, i);
    const cairn_item_info_t *info;
    cairn_error_t local = {0};
    cairn_code_t rc = cairn_step_inspect(c->step, item, &info, &local);
    if (rc == CAIRN_UNSUPPORTED) {
      cairn_error_copy(&unsupported, &local);
      continue;
    }
    if (rc != CAIRN_OK) return cairn_error_copy(err, &local);
    const cairn_leaf_info_t *leaf = leaf_of(info, name);
    looked |= strcmp(info->type, "pytree") == 0;
    if (leaf == NULL) continue;
    if (c->leaf != NULL)
      return cairn_fail(err, CAIRN_INVALID,
                        "leaf \"%s\" is in the items \"%s\" and \"%s\": give "
                        "the path of one",
                        name, c->item, item);
    c->leaf = leaf;
    c->item = item;
  }
  if (c->leaf != NULL) return CAIRN_OK;
  if (!looked && unsupported.code != CAIRN_OK)
    return cairn_error_copy(err, &unsupported);
  return no_leaf(c, name, err);
}

/* --- files --- */

static FILE *open_file(const char *file, cairn_error_t *err) {
  FILE *f = strcmp(file, "-") == 0 ? stdout : fopen(file, "wb");
  if (f == NULL) cairn_fail_errno(err, errno, "write %s", file);
  return f;
}

static bool is_regular(FILE *f) {
  struct stat st;
  return fstat(fileno(f), &st) == 0 && S_ISREG(st.st_mode);
}

/* A file that is not whole is not left behind; a device is. */
static cairn_code_t close_file(FILE *f, const char *file, bool ok,
                               cairn_error_t *err) {
  bool failed = ferror(f) != 0, ours = is_regular(f);
  if (f == stdout) return CAIRN_OK; /* out_end tells */
  if (fclose(f) != 0 || failed)
    cairn_fail_errno(err, errno != 0 ? errno : EIO, "write %s", file);
  else if (ok)
    return CAIRN_OK;
  if (ours) remove(file);
  return err->code;
}

struct sink {
  const cairn_leaf_info_t *leaf;
  FILE *f;
  bool npy;
};

static bool write_piece(void *arg, void *elements, size_t n) {
  struct sink *s = arg;
  size_t size = cairn_dtype_size(s->leaf->dtype);
  elements_to_stored(s->leaf->dtype, elements, n);
  if (s->npy) elements_to_npy(s->leaf->dtype, elements, n);
  return fwrite(elements, size, n, s->f) == n;
}

static void write_header(FILE *f, const cairn_leaf_info_t *leaf) {
  bool carried;
  cairn_buf_t b = {0};
  const char *type = element_npy_type(leaf->dtype, &carried);
  npy_header(&b, type, leaf->rank, leaf->shape);
  fwrite(b.p, 1, b.n, f);
  cairn_buf_reset(&b);
  if (carried)
    tool_note("note: numpy has no %s of its own: the file holds %s as %s",
              cairn_dtype_name(leaf->dtype),
              type[1] == 'i' ? "its values" : "its bits", type);
}

static cairn_code_t write_leaf(struct cat *c, cairn_error_t *err) {
  struct sink s = {.leaf = c->leaf, .npy = c->form == NPY};
  if (!c->leaf->has_data)
    return cairn_fail(err, CAIRN_UNSUPPORTED, "a leaf of kind %s has no array",
                      c->leaf->kind);
  s.f = open_file(c->file, err);
  if (s.f == NULL) return err->code;
  errno = 0;
  if (s.npy) write_header(s.f, c->leaf);
  cairn_code_t rc =
      leaf_stream(c->step, c->item, c->leaf, write_piece, &s, err);
  return close_file(s.f, c->file, rc == CAIRN_OK, err);
}

/* --- printing --- */

struct printer {
  const cairn_leaf_info_t *leaf;
  bool json;
  int64_t at; /* elements printed */
  cairn_buf_t text;
};

/* How many brackets open before, or close after, an element. */
static int brackets(const cairn_leaf_info_t *leaf, int64_t at) {
  int n = 0;
  for (int i = leaf->rank - 1; i >= 0 && at % leaf->shape[i] == 0; i--, n++)
    at /= leaf->shape[i];
  return n;
}

static void print_one(struct printer *p, const void *element) {
  int rank = p->leaf->rank, open = brackets(p->leaf, p->at);
  if (p->at > 0)
    cairn_buf_put_str(&p->text, open == 0 ? ", " : open == 1 ? ",\n" : ",\n\n");
  if (open > 0)
    cairn_buf_printf(&p->text, "%*s", p->at > 0 ? rank - open : 0, "");
  for (int i = 0; i < open; i++) cairn_buf_put_u8(&p->text, '[');
  if (p->json)
    json_element(&p->text, p->leaf->dtype, element);
  else
    put_element(&p->text, p->leaf->dtype, element);
  p->at++;
  for (int i = brackets(p->leaf, p->at); i > 0; i--)
    cairn_buf_put_u8(&p->text, ']');
}

static bool print_piece(void *arg, void *elements, size_t n) {
  struct printer *p = arg;
  size_t size = cairn_dtype_size(p->leaf->dtype);
  for (size_t i = 0; i < n; i++) {
    print_one(p, (const uint8_t *)elements + i * size);
    if (p->text.n < 65536 && i + 1 < n) continue;
    out_bytes(cairn_buf_bytes(&p->text));
    p->text.n = 0;
  }
  return !ferror(stdout);
}

static cairn_code_t print_array(struct cat *c, cairn_error_t *err) {
  struct printer p = {.leaf = c->leaf, .json = c->form == JSON};
  cairn_code_t rc = CAIRN_OK;
  if (leaf_elements(c->leaf) == 0)
    out_text("[]");
  else
    rc = leaf_stream(c->step, c->item, c->leaf, print_piece, &p, err);
  out_text("\n");
  cairn_buf_reset(&p.text);
  return rc;
}

static void print_string(const struct cat *c) {
  cairn_buf_t b = {0};
  if (c->form == JSON)
    json_str(&b, c->leaf->text);
  else
    cairn_buf_put(&b, c->leaf->text.p, c->leaf->text.n);
  cairn_buf_put_str(&b, "\n");
  out_bytes(cairn_buf_bytes(&b));
  cairn_buf_reset(&b);
}

static cairn_code_t print_empty(const struct cat *c, cairn_error_t *err) {
  const char *kind = c->leaf->kind;
  if (strcmp(kind, "Dict") == 0)
    out_text("{}\n");
  else if (strcmp(kind, "List") == 0 || strcmp(kind, "Tuple") == 0)
    out_text("[]\n");
  else if (strcmp(kind, "None") == 0 || strcmp(kind, "NamedTuple") == 0)
    out_text(c->form == JSON ? "null\n" : "None\n");
  else
    return cairn_fail(err, CAIRN_UNSUPPORTED, "a leaf of kind %s is not known",
                      kind);
  return CAIRN_OK;
}

static cairn_code_t cat_leaf(struct cat *c, cairn_error_t *err) {
  if (c->form == NPY || c->form == RAW) return write_leaf(c, err);
  if (c->leaf->has_data) return print_array(c, err);
  if (!leaf_is_string(c->leaf)) return print_empty(c, err);
  print_string(c);
  return CAIRN_OK;
}

/* An invalid call, by now, comes of what is stored. */
static cairn_code_t cat_found(struct cat *c, cairn_error_t *err) {
  cairn_code_t rc = cat_leaf(c, err);
  if (rc == CAIRN_INVALID) err->code = rc = CAIRN_CORRUPT;
  return rc;
}

/* --- items without leaves --- */

static cairn_code_t write_blob(struct cat *c, cairn_bytes_t bytes,
                               cairn_error_t *err) {
  FILE *f = open_file(c->file != NULL ? c->file : "-", err);
  if (f == NULL) return err->code;
  errno = 0;
  if (bytes.n != 0) fwrite(bytes.p, 1, bytes.n, f);
  return close_file(f, c->file, true, err);
}

/* The document of a JSON item, the bytes of others; LEAF is a rank then. */
static cairn_code_t cat_blob(struct cat *c, const char *leaf,
                             cairn_error_t *err) {
  const cairn_item_info_t *info;
  cairn_blob_t blob;
  char *end = NULL;
  if (cairn_step_num_items(c->step) != 1)
    return cairn_fail(err, CAIRN_INVALID,
                      "LEAF is needed, or the path of an item that has none");
  c->item = cairn_step_item(c->step, 0);
  cairn_code_t rc = cairn_step_inspect(c->step, c->item, &info, err);
  if (rc != CAIRN_OK) return rc;
  if (strcmp(info->type, "pytree") == 0)
    return cairn_fail(err, CAIRN_INVALID, "LEAF is needed");
  if (c->form == NPY)
    return cairn_fail(err, CAIRN_UNSUPPORTED, "a %s item is no array",
                      info->type);
  long long index = leaf != NULL ? strtoll(leaf, &end, 10) : 0;
  if (leaf != NULL && (end == leaf || *end != 0))
    return cairn_fail(err, CAIRN_NOT_FOUND, "no leaf \"%s\" in a %s item", leaf,
                      info->type);
  rc = cairn_step_read_blob(c->step, c->item, index, &blob, err);
  if (rc != CAIRN_OK) return rc;
  rc = write_blob(c, cairn_bytes(blob.out, blob.out_n), err);
  free(blob.out);
  if (c->file == NULL && strcmp(info->type, "json") == 0) out_text("\n");
  return rc;
}

/* --- the command --- */

static bool has_leaves(struct cat *c) {
  const cairn_item_info_t *info;
  return cairn_step_num_items(c->step) != 1 ||
         cairn_step_inspect(c->step, cairn_step_item(c->step, 0), &info,
                            NULL) != CAIRN_OK ||
         strcmp(info->type, "pytree") == 0;
}

static int cat(cairn_runtime_t *rt, struct cat *c, const char *path,
               const char *leaf) {
  cairn_error_t err = {0};
  cairn_code_t rc = cairn_step_open(rt, path, &c->step, &err);
  if (rc == CAIRN_OK && (leaf == NULL || !has_leaves(c))) {
    rc = cat_blob(c, leaf, &err);
  } else if (rc == CAIRN_OK) {
    rc = find_leaf(c, leaf, &err);
    if (rc == CAIRN_OK) rc = cat_found(c, &err);
  }
  cairn_step_close(c->step);
  return rc == CAIRN_OK ? EXIT_FINE : tool_failed(&err);
}

static int run(int argc, char **argv) {
  enum { OPT_NPY = OPT_FIRST_OWN, OPT_RAW };
  static const struct option opts[] = {
      OPTS_COMMON,
      {"npy", required_argument, NULL, OPT_NPY},
      {"raw", required_argument, NULL, OPT_RAW},
      {0}};
  struct cat c = {.form = PRINT};
  int status = EXIT_FINE, o;
  while ((o = tool_option(&cmd_cat, argc, argv, opts, &status)) != -1) {
    if (o == 0) return status;
    if (c.form != PRINT)
      return tool_usage(&cmd_cat, "one of --json, --npy and --raw");
    c.form = o == OPT_JSON ? JSON : o == OPT_NPY ? NPY : RAW;
    c.file = optarg;
  }
  int n = argc - optind;
  if (n != 1 && n != 2) return tool_usage(&cmd_cat, "PATH and LEAF are needed");
  cairn_runtime_t *rt = tool_runtime(0, &status);
  if (rt == NULL) return status;
  status = cat(rt, &c, argv[optind], n == 2 ? argv[optind + 1] : NULL);
  cairn_runtime_close(rt, NULL);
  return status;
}

const command_t cmd_cat = {
    .name = "cat",
    .args = "[--npy F | --raw F | --json] PATH [LEAF]",
    .summary = "prints one leaf, or writes it",
    .help =
        "LEAF is a name as show prints it (params.w) or a path (params/w).\n"
        "--npy F writes numpy's file format, --raw F the bytes alone (C "
        "order,\n"
        "little-endian); F may be - for standard output. Types that numpy has\n"
        "not (bfloat16, float8, float4) are written as unsigned integers of\n"
        "the same bits, int2 and int4 as int8 of the same values, and a note\n"
        "on stderr says so. Without LEAF, PATH is an item without leaves: the\n"
        "document of a JSON item, the bytes of others (LEAF: of which rank).\n",
    .run = run,
};
