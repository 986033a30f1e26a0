/* OCDBT databases from the command line, for comparison with TensorStore.
 *
 *   ocdbt_tool create DIR [OPTION=N]... < pairs
 *   ocdbt_tool merge DIR [OPTION=N]... < pairs with a child before each
 *   ocdbt_tool cat DIR        key and value of everything
 *   ocdbt_tool list DIR       key and size of everything
 *   ocdbt_tool get DIR KEY    one value
 *   ocdbt_tool check DIR
 *
 * Options: inline, node, target (bytes), zstd (level; none: plain). A line of
 * pairs is "KEY VALUE", in a merge "CHILD KEY VALUE"; keys and values in hex,
 * "-" is the empty string. */
#include <stdio.h>
#include <stdlib.h>

#include "loop/loop.h"
#include "ocdbt/ocdbt.h"
#include "support/kv_call.h"

#define MAX_CHILDREN 64
#define MAX_LINE (4 << 20)

static cairn_runtime_t *rt;
static cairn_error_t err;

static void die(const char *what) {
  fprintf(stderr, "ocdbt_tool: %s: %s\n", what, err.message);
  exit(1);
}

/* --- calls on the loop --- */

struct job {
  cairn_kv_t *kv, **out;
  const cairn__ocdbt_write_opts_t *o;
  cairn__ocdbt_summary_t *summary;
  const cairn__ocdbt_child_t *children;
  size_t n;
};

static cairn_future_t *do_open(void *arg) {
  struct job *j = arg;
  return cairn__ocdbt_open(j->kv, j->out);
}

static cairn_future_t *do_create(void *arg) {
  struct job *j = arg;
  return cairn__ocdbt_create(j->kv, j->o, j->out);
}

static cairn_future_t *do_commit(void *arg) {
  struct job *j = arg;
  return cairn__ocdbt_commit(j->kv, j->summary);
}

static cairn_future_t *do_merge(void *arg) {
  struct job *j = arg;
  return cairn__ocdbt_merge(j->kv, j->o, j->children, j->n, j->summary);
}

static cairn_future_t *do_check(void *arg) {
  struct job *j = arg;
  return cairn__ocdbt_check(j->kv);
}

static void call(cairn__start_fn fn, struct job j, const char *what) {
  if (cairn__call(rt, fn, &j, -1, &err) != CAIRN_OK) die(what);
}

/* --- hex --- */

static cairn_buf_t from_hex(const char *hex) {
  cairn_buf_t b = {0};
  size_t n = strcmp(hex, "-") == 0 ? 0 : strlen(hex);
  if (!cairn_buf_reserve(&b, n / 2 + 1) ||
      (n != 0 && !cairn__unhex(cairn_bytes(hex, n), b.p))) {
    fprintf(stderr, "ocdbt_tool: not hex: %s\n", hex);
    exit(2);
  }
  b.n = n / 2;
  return b;
}

static void print_hex(cairn_bytes_t b) {
  if (b.n == 0) printf("-");
  for (size_t i = 0; i < b.n; i++) printf("%02x", b.p[i]);
}

/* --- writing --- */

static cairn__ocdbt_write_opts_t options(char **argv) {
  cairn__ocdbt_write_opts_t o;
  cairn__ocdbt_orbax_opts(&o);
  o.config.zstd = false;
  for (; *argv != NULL; argv++) {
    char *eq = strchr(*argv, '=');
    long long v = eq != NULL ? atoll(eq + 1) : 0;
    if (strncmp(*argv, "inline=", 7) == 0)
      o.config.max_inline_value_bytes = (uint32_t)v;
    if (strncmp(*argv, "node=", 5) == 0)
      o.config.max_decoded_node_bytes = (uint32_t)v;
    if (strncmp(*argv, "target=", 7) == 0)
      o.target_data_file_size = (uint64_t)v;
    if (strncmp(*argv, "zstd=", 5) == 0) {
      o.config.zstd = true;
      o.config.zstd_level = (int32_t)v;
    }
  }
  return o;
}

static void write_pair(cairn_kv_t *w, const char *key, const char *value) {
  cairn_buf_t k = from_hex(key), v = from_hex(value);
  struct iovec iov = {v.p, v.n};
  if (kv_call_write(w, cairn_buf_bytes(&k), &iov, 1, NULL, NULL, &err) !=
      CAIRN_OK)
    die("write");
  cairn_buf_reset(&k);
  cairn_buf_reset(&v);
}

struct child {
  char *name;
  cairn_kv_t *view, *writer;
  cairn__ocdbt_summary_t summary;
};

static struct child *child_of(struct child *children, size_t *n,
                              cairn_kv_t *base, const char *name,
                              const cairn__ocdbt_write_opts_t *o) {
  for (size_t i = 0; i < *n; i++)
    if (strcmp(children[i].name, name) == 0) return &children[i];
  if (*n == MAX_CHILDREN) die("too many children");
  struct child *c = &children[(*n)++];
  c->name = strdup(name);
  c->view = kv_call_prefix(base, name);
  call(do_create, (struct job){.kv = c->view, .o = o, .out = &c->writer},
       "create");
  return c;
}

/* Pairs from stdin to their writers; "" is the only child of a create. */
static size_t read_pairs(cairn_kv_t *base, struct child *children, bool named,
                         const cairn__ocdbt_write_opts_t *o) {
  char *line = malloc(MAX_LINE), *save;
  size_t n = 0;
  if (!named) child_of(children, &n, base, "", o);
  while (fgets(line, MAX_LINE, stdin) != NULL) {
    const char *name = named ? strtok_r(line, " \n", &save) : "";
    const char *key = strtok_r(named ? NULL : line, " \n", &save);
    const char *value = strtok_r(NULL, " \n", &save);
    if (name == NULL || key == NULL || value == NULL) continue;
    write_pair(child_of(children, &n, base, name, o)->writer, key, value);
  }
  free(line);
  return n;
}

static void cmd_write(cairn_kv_t *base, bool merge, char **argv) {
  static struct child children[MAX_CHILDREN];
  cairn__ocdbt_write_opts_t o = options(argv);
  cairn__ocdbt_child_t list[MAX_CHILDREN];
  cairn__ocdbt_summary_t merged = {0};
  size_t n = read_pairs(base, children, merge, &o);
  for (size_t i = 0; i < n; i++) {
    struct child *c = &children[i];
    call(do_commit, (struct job){.kv = c->writer, .summary = &c->summary},
         "commit");
    kv_call_close(c->writer, NULL);
    kv_call_close(c->view, NULL);
    list[i].base_path = cairn_bytes_str(c->name);
    list[i].leaves = cairn_buf_bytes(&c->summary.leaves);
  }
  if (merge)
    call(do_merge,
         (struct job){
             .kv = base, .o = &o, .children = list, .n = n, .summary = &merged},
         "merge");
  cairn__ocdbt_summary_free(&merged);
  for (size_t i = 0; i < n; i++) {
    cairn__ocdbt_summary_free(&children[i].summary);
    free(children[i].name);
  }
}

/* --- reading --- */

struct keys {
  cairn_buf_t *key;
  int64_t *size;
  size_t n, cap;
};

static bool add_key(void *arg, cairn_bytes_t key, int64_t size) {
  struct keys *k = arg;
  if (k->n == k->cap) {
    k->cap = k->cap != 0 ? 2 * k->cap : 64;
    k->key = realloc(k->key, k->cap * sizeof *k->key);
    k->size = realloc(k->size, k->cap * sizeof *k->size);
  }
  k->key[k->n] = (cairn_buf_t){0};
  cairn_buf_put(&k->key[k->n], key.p, key.n);
  k->size[k->n++] = size;
  return true;
}

struct listing {
  cairn_kv_t *kv;
  struct keys *keys;
};

static cairn_future_t *do_list(void *arg) {
  struct listing *l = arg;
  return cairn_kv_list(l->kv, cairn_bytes(NULL, 0), add_key, l->keys);
}

static void print_value(cairn_kv_t *db, cairn_bytes_t key) {
  cairn_value_t v = {0};
  if (kv_call_read(db, key, CAIRN_WHOLE, &v, &err) != CAIRN_OK) die("read");
  if (v.found)
    print_hex(v.data);
  else
    printf("absent");
  printf("\n");
  cairn_value_reset(&v);
}

static void cmd_list(cairn_kv_t *db, bool values) {
  struct keys k = {0};
  struct listing l = {db, &k};
  if (cairn__call(rt, do_list, &l, -1, &err) != CAIRN_OK) die("list");
  for (size_t i = 0; i < k.n; i++) {
    print_hex(cairn_buf_bytes(&k.key[i]));
    printf(" ");
    if (values)
      print_value(db, cairn_buf_bytes(&k.key[i]));
    else
      printf("%lld\n", (long long)k.size[i]);
    cairn_buf_reset(&k.key[i]);
  }
  free(k.key);
  free(k.size);
}

static void cmd_read(cairn_kv_t *base, const char *what, const char *key) {
  cairn_kv_t *db = NULL;
  call(do_open, (struct job){.kv = base, .out = &db}, "open");
  if (strcmp(what, "check") == 0) {
    call(do_check, (struct job){.kv = db}, "check");
  } else if (strcmp(what, "get") == 0) {
    cairn_buf_t k = from_hex(key);
    print_value(db, cairn_buf_bytes(&k));
    cairn_buf_reset(&k);
  } else {
    cmd_list(db, strcmp(what, "cat") == 0);
  }
  kv_call_close(db, NULL);
}

int main(int argc, char **argv) {
  cairn_kv_t *base = NULL;
  if (argc < 3) {
    fprintf(stderr, "usage: ocdbt_tool create|merge|cat|list|get|check DIR\n");
    return 2;
  }
  if (cairn_runtime_open(NULL, &rt, &err) != CAIRN_OK) die("runtime");
  if (kv_call_open(rt, argv[2], &base, &err) != CAIRN_OK) die("open");
  if (strcmp(argv[1], "create") == 0 || strcmp(argv[1], "merge") == 0)
    cmd_write(base, argv[1][0] == 'm', argv + 3);
  else
    cmd_read(base, argv[1], argc > 3 ? argv[3] : "-");
  kv_call_close(base, NULL);
  cairn_runtime_close(rt, NULL);
  return 0;
}
