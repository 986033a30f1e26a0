/* The smallest user: opens a runtime of the installed library and closes it. */
#include <cairn/cairn.h>
#include <stdio.h>

int main(void) {
  cairn_error_t err = {0};
  cairn_runtime_t *rt = NULL;
  if (cairn_runtime_open(NULL, &rt, &err) != CAIRN_OK ||
      cairn_runtime_close(rt, &err) != CAIRN_OK) {
    fprintf(stderr, "%s\n", err.message);
    return 1;
  }
  puts("opened and closed from C");
  return 0;
}
