/* A job of one process that counts to 1000 and can be killed at any time:
 * started again, it goes on from its newest checkpoint.
 *
 *   minimal DIRECTORY */
#include <cairn/cairn.h>
#include <stdio.h>

enum { STEPS = 1000, N = 4096 };

static double w[N]; /* what is "trained" */
static int64_t step;

static void train(void) {
  for (int i = 0; i < N; i++) w[i] += i;
  step++;
}

static cairn_code_t run(cairn_manager_t *mgr, cairn_tree_t *state,
                        cairn_error_t *err) {
  cairn_tree_put_array(
      state, "params/w",
      &(cairn_array_t){.dtype = CAIRN_F64, .rank = 1, .shape = {N}, .data = w},
      err);
  cairn_tree_put_int64(state, "step", &step, err);
  if (err->code != CAIRN_OK) return err->code;

  cairn_error_t none = {0};
  cairn_code_t rc =
      cairn_manager_restore(mgr, CAIRN_LATEST, state, NULL, &none);
  if (rc != CAIRN_OK && rc != CAIRN_NOT_FOUND)
    return cairn_error_copy(err, &none);
  printf("from step %lld\n", (long long)step);
  while (step < STEPS) {
    train();
    if (cairn_manager_save(mgr, step, state, NULL, err) != CAIRN_OK)
      return err->code;
  }
  printf("to step %lld: w[1] = %g\n", (long long)step, w[1]);
  return CAIRN_OK;
}

int main(int argc, char **argv) {
  cairn_runtime_t *rt = NULL;
  cairn_comm_t *comm = NULL;
  cairn_manager_t *mgr = NULL;
  cairn_tree_t *state = NULL;
  cairn_error_t err = {0};
  cairn_manager_opts_t opts = {.save_interval_steps = 100, .max_to_keep = 3};
  const char *root = argc > 1 ? argv[1] : "runs/minimal";

  if (cairn_runtime_open(NULL, &rt, &err) == CAIRN_OK &&
      cairn_comm_self_open(rt, &comm, &err) == CAIRN_OK &&
      cairn_manager_open(rt, comm, root, &opts, &mgr, &err) == CAIRN_OK &&
      cairn_tree_new(&state, &err) == CAIRN_OK)
    run(mgr, state, &err);
  cairn_manager_close(mgr, 60000, &err); /* waits for the last save */
  cairn_tree_free(state);
  cairn_comm_close(comm, &err);
  cairn_runtime_close(rt, &err);
  if (err.code != CAIRN_OK) fprintf(stderr, "minimal: %s\n", err.message);
  return err.code != CAIRN_OK;
}
