#include "mpi_count.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>

bool mpi_fake_version;
static atomic_int collectives, calls, longest;

int mpi_collectives(void) {
  return atomic_load(&collectives);
}

int mpi_calls(void) {
  return atomic_load(&calls);
}

int mpi_longest(void) {
  return atomic_load(&longest);
}

#define CALL(name, params, args) \
  int MPI_##name params {        \
    atomic_fetch_add(&calls, 1); \
    return PMPI_##name args;     \
  }
#define COLLECTIVE(name, params, args) \
  int MPI_##name params {              \
    atomic_fetch_add(&collectives, 1); \
    atomic_fetch_add(&calls, 1);       \
    return PMPI_##name args;           \
  }

COLLECTIVE(Barrier, (MPI_Comm c), (c))
COLLECTIVE(Ibarrier, (MPI_Comm c, MPI_Request *r), (c, r))
COLLECTIVE(Bcast, (void *b, int n, MPI_Datatype t, int root, MPI_Comm c),
           (b, n, t, root, c))
COLLECTIVE(Ibcast,
           (void *b, int n, MPI_Datatype t, int root, MPI_Comm c,
            MPI_Request *r),
           (b, n, t, root, c, r))
COLLECTIVE(Reduce,
           (const void *a, void *b, int n, MPI_Datatype t, MPI_Op op, int root,
            MPI_Comm c),
           (a, b, n, t, op, root, c))
COLLECTIVE(Allreduce,
           (const void *a, void *b, int n, MPI_Datatype t, MPI_Op op,
            MPI_Comm c),
           (a, b, n, t, op, c))
COLLECTIVE(Iallreduce,
           (const void *a, void *b, int n, MPI_Datatype t, MPI_Op op,
            MPI_Comm c, MPI_Request *r),
           (a, b, n, t, op, c, r))
COLLECTIVE(Gather,
           (const void *a, int na, MPI_Datatype ta, void *b, int nb,
            MPI_Datatype tb, int root, MPI_Comm c),
           (a, na, ta, b, nb, tb, root, c))
COLLECTIVE(Alltoall,
           (const void *a, int na, MPI_Datatype ta, void *b, int nb,
            MPI_Datatype tb, MPI_Comm c),
           (a, na, ta, b, nb, tb, c))
COLLECTIVE(Comm_dup, (MPI_Comm c, MPI_Comm *out), (c, out))

int MPI_Allgather(const void *a, int na, MPI_Datatype ta, void *b, int nb,
                  MPI_Datatype tb, MPI_Comm c) {
  atomic_fetch_add(&collectives, 1);
  atomic_fetch_add(&calls, 1);
  if (mpi_fake_version) ++*(uint32_t *)(uintptr_t)a; /* the major version */
  return PMPI_Allgather(a, na, ta, b, nb, tb, c);
}

CALL(Comm_free, (MPI_Comm * c), (c))
CALL(Comm_delete_attr, (MPI_Comm c, int key), (c, key))
CALL(Comm_free_keyval, (int *key), (key))
CALL(Error_string, (int rc, char *out, int *n), (rc, out, n))
CALL(Get_count, (const MPI_Status *s, MPI_Datatype t, int *n), (s, t, n))
CALL(Testsome, (int n, MPI_Request *r, int *out, int *at, MPI_Status *s),
     (n, r, out, at, s))
CALL(Test, (MPI_Request * r, int *done, MPI_Status *s), (r, done, s))
CALL(Cancel, (MPI_Request * r), (r))
CALL(Request_free, (MPI_Request * r), (r))
CALL(Irecv,
     (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c,
      MPI_Request *r),
     (b, n, t, from, tag, c, r))

int MPI_Isend(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c,
              MPI_Request *r) {
  atomic_fetch_add(&calls, 1);
  if (n > atomic_load(&longest)) atomic_store(&longest, n);
  return PMPI_Isend(b, n, t, to, tag, c, r);
}
