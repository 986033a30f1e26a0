/* The vote tree. Ranks of one host are below one leader, so that a vote crosses
 * the network once per host in each direction. */
#include <stdlib.h>

#include "comm/transport.h"

typedef char host_name[CAIRN__HOST_BYTES];

static int by_host_then_rank(const void *a, const void *b, void *arg) {
  const host_name *hosts = arg;
  int x = *(const int *)a, y = *(const int *)b;
  int order = strcmp(hosts[x], hosts[y]);
  return order != 0 ? order : (x > y) - (x < y);
}

static int by_rank(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

/* group[0] is the root of a heap-shaped tree; its own parent is set elsewhere.
 */
static void heap(const int *group, int n, int *parents) {
  for (int j = 1; j < n; j++)
    parents[group[j]] = group[(j - 1) / CAIRN__TREE_ARITY];
}

/* Links the ranks of each host; leaders get the first ranks. Returns how many.
 */
static int link_hosts(host_name *const hosts, const int *order, int n,
                      int *leaders, int *parents) {
  int n_leaders = 0;
  for (int i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n; end++)
      if (strcmp(hosts[order[i]], hosts[order[end]]) != 0) break;
    heap(order + i, end - i, parents);
    leaders[n_leaders++] = order[i];
  }
  return n_leaders;
}

cairn_code_t cairn__tree_build(host_name *const hosts, int n, int *parents,
                               int *heights, cairn_error_t *err) {
  int *order = calloc((size_t)n, 2 * sizeof *order);
  int *leaders = order + n;
  if (order == NULL)
    return cairn_fail(err, CAIRN_NO_MEMORY, "vote tree of %d ranks", n);
  for (int r = 0; r < n; r++) {
    order[r] = r;
    heights[r] = 0;
  }
  qsort_r(order, (size_t)n, sizeof *order, by_host_then_rank, hosts);
  int n_leaders = link_hosts(hosts, order, n, leaders, parents);
  qsort(leaders, (size_t)n_leaders, sizeof *leaders, by_rank);
  heap(leaders, n_leaders, parents);
  parents[0] = -1;
  for (int r = n - 1; r > 0; r--)
    if (heights[parents[r]] < heights[r] + 1)
      heights[parents[r]] = heights[r] + 1;
  free(order);
  return CAIRN_OK;
}
