#include "state.h"

#include <inttypes.h>
#include <stdio.h>

/* rows: how many of the matrix's rows this rank holds, from `first` on. */
static cairn_code_t put_matrix(state_t *st, const char *group,
                               const matrix_t *matrix, int64_t first,
                               int64_t rows, float *data, cairn_error_t *err) {
  char path[64];
  snprintf(path, sizeof(path), "%s/%s", group, matrix->name);
  return cairn_tree_put_array(
      st->tree, path,
      &(cairn_array_t){.dtype = CAIRN_F32,
                       .rank = matrix->dims,
                       .shape = {matrix->rows, matrix->cols},
                       .origin = {first, 0},
                       .extent = {rows, matrix->cols},
                       .empty = rows == 0,
                       .data = data},
      err);
}

static cairn_code_t put_arrays(state_t *st, trainer_t *tr, cairn_error_t *err) {
  for (int i = 0; i < NUM_PARAMS; i++) {
    const matrix_t *p = &tr->model.param[i];
    const moment_t *a = &tr->adam.moment[i];
    if (put_matrix(st, "params", p, 0, p->rows, p->data, err) != CAIRN_OK ||
        put_matrix(st, "adam/m", p, a->first, a->rows, a->m, err) != CAIRN_OK ||
        put_matrix(st, "adam/v", p, a->first, a->rows, a->v, err) != CAIRN_OK)
      return err->code;
  }
  return cairn_tree_put_array(
      st->tree, "sampler",
      &(cairn_array_t){
          .dtype = CAIRN_U64, .rank = 1, .shape = {4}, .data = tr->sampler.s},
      err);
}

static cairn_code_t put_rest(state_t *st, cairn_error_t *err) {
  cairn_tree_put_int64(st->tree, "step", &st->step, err);
  cairn_tree_put_int64(st->tree, "ranks", &st->ranks, err);
  cairn_tree_put_double(st->tree, "learning_rate", &st->learning_rate, err);
  cairn_tree_put_string(st->tree, "corpus", st->corpus, sizeof(st->corpus),
                        err);
  return err->code; /* the first error stays */
}

cairn_code_t state_open(state_t *st, trainer_t *tr, cairn_error_t *err) {
  if (cairn_tree_new(&st->tree, err) != CAIRN_OK) return err->code;
  if (put_arrays(st, tr, err) == CAIRN_OK && put_rest(st, err) == CAIRN_OK)
    return CAIRN_OK;
  state_close(st);
  return err->code;
}

void state_close(state_t *st) {
  cairn_tree_free(st->tree);
  st->tree = NULL;
}

static void print_leaf(const cairn_leaf_t *leaf) {
  printf("%.*s ", (int)leaf->name.n, (const char *)leaf->name.p);
  if (leaf->kind == CAIRN_LEAF_STRING) {
    printf("string -\n");
    return;
  }
  printf("%s ", cairn_dtype_name(leaf->dtype));
  for (int i = 0; i < leaf->rank; i++)
    printf("%s%" PRId64, i > 0 ? "," : "", leaf->shape[i]);
  printf(leaf->rank > 0 ? "\n" : "scalar\n");
}

void state_print_shapes(const state_t *st) {
  for (size_t i = 0; i < cairn_tree_count(st->tree); i++)
    print_leaf(cairn_tree_leaf(st->tree, i));
}
