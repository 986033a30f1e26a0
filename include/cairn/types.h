/* Plain types that every other header uses: borrowed bytes, extents, data
 * types, and the macros of the interface. Nothing here allocates. */
#ifndef CAIRN_TYPES_H_
#define CAIRN_TYPES_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CAIRN_VERSION_MAJOR 0
#define CAIRN_VERSION_MINOR 1
#define CAIRN_VERSION_PATCH 0

#if defined(__GNUC__)
#define CAIRN_API __attribute__((visibility("default")))
#define CAIRN_MUST_CHECK __attribute__((warn_unused_result))
#define CAIRN_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define CAIRN_API
#define CAIRN_MUST_CHECK
#define CAIRN_PRINTF(fmt, args)
#endif

/* The struct of which `ptr` is the member `member`. */
#define cairn_container_of(ptr, type, member) \
  ((type *)((char *)(ptr)-offsetof(type, member)))

/* Bytes that belong to someone else. {0} is empty. Never freed through this. */
typedef struct cairn_bytes {
  const uint8_t *p;
  size_t n;
} cairn_bytes_t;

static inline cairn_bytes_t cairn_bytes(const void *p, size_t n) {
  cairn_bytes_t b;
  b.p = (const uint8_t *)p;
  b.n = n;
  return b;
}

/* The bytes of a C string, without its NUL. NULL gives empty bytes. */
static inline cairn_bytes_t cairn_bytes_str(const char *s) {
  return cairn_bytes(s, s != NULL ? strlen(s) : 0);
}

/* TensorStore and HDF5 stop at 32 dimensions; so do the formats here. */
#define CAIRN_MAX_RANK 32

/* Element types: X(enum name, name in zarr 3 and in messages, bytes an element
 * takes in memory and on disk). Sub-byte types (int2, int4, float4) take one
 * byte, the value in the low bits. */
#define CAIRN_DTYPES(X)                      \
  X(BOOL, "bool", 1)                         \
  X(I2, "int2", 1)                           \
  X(I4, "int4", 1)                           \
  X(I8, "int8", 1)                           \
  X(I16, "int16", 2)                         \
  X(I32, "int32", 4)                         \
  X(I64, "int64", 8)                         \
  X(U8, "uint8", 1)                          \
  X(U16, "uint16", 2)                        \
  X(U32, "uint32", 4)                        \
  X(U64, "uint64", 8)                        \
  X(F4_E2M1FN, "float4_e2m1fn", 1)           \
  X(F8_E3M4, "float8_e3m4", 1)               \
  X(F8_E4M3FN, "float8_e4m3fn", 1)           \
  X(F8_E4M3FNUZ, "float8_e4m3fnuz", 1)       \
  X(F8_E4M3B11FNUZ, "float8_e4m3b11fnuz", 1) \
  X(F8_E5M2, "float8_e5m2", 1)               \
  X(F8_E5M2FNUZ, "float8_e5m2fnuz", 1)       \
  X(F8_E8M0FNU, "float8_e8m0fnu", 1)         \
  X(F16, "float16", 2)                       \
  X(BF16, "bfloat16", 2)                     \
  X(F32, "float32", 4)                       \
  X(F64, "float64", 8)                       \
  X(C64, "complex64", 8)                     \
  X(C128, "complex128", 16)

typedef enum cairn_dtype {
  CAIRN_DTYPE_NONE = 0, /* {0} is no type, and refused where one is needed */
#define CAIRN_X(name, text, size) CAIRN_##name,
  CAIRN_DTYPES(CAIRN_X)
#undef CAIRN_X
      CAIRN_DTYPE_COUNT
} cairn_dtype_t;

/* Bytes an element takes in memory; 0 for a value that is not a type. Any
 * thread. */
CAIRN_API size_t cairn_dtype_size(cairn_dtype_t t);

/* The name in zarr 3 ("float32"); "none" for a value that is not a type. A
 * constant. Any thread. */
CAIRN_API const char *cairn_dtype_name(cairn_dtype_t t);

/* The type with that zarr 3 name, or CAIRN_DTYPE_NONE. Any thread. */
CAIRN_API cairn_dtype_t cairn_dtype_from_name(cairn_bytes_t name);

#ifdef __cplusplus
}
#endif
#endif
