/* Everything a job needs, but for MPI (<cairn/comm_mpi.h>). */
#ifndef CAIRN_CAIRN_H_
#define CAIRN_CAIRN_H_

#include "cairn/checkpointer.h"
#include "cairn/comm.h"
#include "cairn/error.h"
#include "cairn/future.h"
#include "cairn/inspect.h"
#include "cairn/manager.h"
#include "cairn/memory.h"
#include "cairn/runtime.h"
#include "cairn/tree.h"
#include "cairn/types.h"

#endif
