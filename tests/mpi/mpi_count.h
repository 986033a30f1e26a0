/* Counts MPI calls through the profiling interface. */
#ifndef CAIRN_TESTS_MPI_MPI_COUNT_H_
#define CAIRN_TESTS_MPI_MPI_COUNT_H_

#include <stdbool.h>

int mpi_collectives(void); /* begun so far on this rank */
int mpi_calls(void);       /* those, and all others that Cairn makes */
int mpi_longest(void);     /* count of an Isend so far */

/* This rank then gives another version of the library when it opens. */
extern bool mpi_fake_version;

#endif
