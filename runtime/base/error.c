/* Errors as values: a code, and a text that grows outward. Nothing here
 * allocates, so failing works when memory is out. */
#include "cairn/error.h"

#include <errno.h>
#include <stdio.h>

const char *cairn_code_text(cairn_code_t code) {
  switch (code) {
#define CAIRN_X(name, number, text) \
  case CAIRN_##name:                \
    return text;
    CAIRN_CODES(CAIRN_X)
#undef CAIRN_X
  }
  return "unknown code";
}

/* A message is formatted here first: two of the longest paths and a reason. */
#define ROOM ((size_t)10240)
/* Of a cut message: where it happened. The rest is for the end, which says why.
 */
#define HEAD ((size_t)CAIRN_MESSAGE_BYTES / 3)

static bool inside_character(char c) {
  return ((unsigned char)c & 0xc0) == 0x80;
}

/* Into a message of CAIRN_MESSAGE_BYTES; what does not fit is cut out of the
 * middle, without half a character beside the "...". */
static void fit(char *out, const char *text, size_t n) {
  size_t head = HEAD, tail = n - (CAIRN_MESSAGE_BYTES - 4 - HEAD);
  if (n < CAIRN_MESSAGE_BYTES) {
    memcpy(out, text, n + 1);
    return;
  }
  while (head > 0 && inside_character(text[head])) head--;
  while (tail < n && inside_character(text[tail])) tail++;
  memcpy(out, text, head);
  memcpy(out + head, "...", 3);
  memcpy(out + head + 3, text + tail, n - tail + 1);
}

/* Formats into text[ROOM], leaving out what would not leave `spare` bytes; the
 * length. */
static size_t format(char *text, size_t spare, const char *fmt, va_list ap) {
  size_t cap = ROOM - spare;
  int n = vsnprintf(text, cap, fmt, ap);
  if (n < 0) n = 0;
  return (size_t)n < cap ? (size_t)n : cap - 1;
}

/* `tail` (may be NULL) follows the formatted text after ": ". */
static void set(cairn_error_t *err, cairn_code_t code, int errnum,
                const char *tail, const char *fmt, va_list ap) {
  char text[ROOM];
  if (err == NULL || err->code != CAIRN_OK) return;
  size_t spare = tail != NULL ? strlen(tail) + 2 : 0;
  size_t n = format(text, spare, fmt, ap);
  if (tail != NULL) n += (size_t)snprintf(text + n, ROOM - n, ": %s", tail);
  err->code = code;
  err->sys_errno = errnum;
  err->rank = -1;
  fit(err->message, text, n);
}

cairn_code_t cairn_fail(cairn_error_t *err, cairn_code_t code, const char *fmt,
                        ...) {
  va_list ap;
  /* A failure that claims success would be lost; plug-ins call this too. */
  if (code == CAIRN_OK) code = CAIRN_INTERNAL;
  va_start(ap, fmt);
  set(err, code, 0, NULL, fmt, ap);
  va_end(ap);
  return code;
}

/* What the caller may do about an errno value. EIO and all that is not listed
 * is CAIRN_IO: look at the device. */
static const struct {
  int errnum;
  cairn_code_t code;
} errno_codes[] = {
    {ENOENT, CAIRN_NOT_FOUND},
    {ENXIO, CAIRN_NOT_FOUND},
    {ESRCH, CAIRN_NOT_FOUND},
    {ENODEV, CAIRN_NOT_FOUND},
    {EEXIST, CAIRN_EXISTS},
    {ENOTEMPTY, CAIRN_EXISTS},
    {EPERM, CAIRN_DENIED},
    {EACCES, CAIRN_DENIED},
    {EROFS, CAIRN_DENIED},
    {ENOSPC, CAIRN_NO_SPACE},
    {EDQUOT, CAIRN_NO_SPACE},
    {ENOMEM, CAIRN_NO_MEMORY},
    {EBUSY, CAIRN_BUSY},
    {ETXTBSY, CAIRN_BUSY},
    {EINVAL, CAIRN_INVALID},
    {ENAMETOOLONG, CAIRN_INVALID},
    {EFAULT, CAIRN_INVALID},
    {EBADF, CAIRN_INVALID},
    {EISDIR, CAIRN_INVALID},
    {ENOTDIR, CAIRN_INVALID},
    {ELOOP, CAIRN_INVALID},
    {EDOM, CAIRN_INVALID},
    {ENOSYS, CAIRN_UNSUPPORTED},
    {EOPNOTSUPP, CAIRN_UNSUPPORTED},
    {EXDEV, CAIRN_UNSUPPORTED},
    {ETIMEDOUT, CAIRN_TIMED_OUT},
    {ECANCELED, CAIRN_CANCELLED},
    {EAGAIN, CAIRN_UNAVAILABLE},
    {EINTR, CAIRN_UNAVAILABLE},
    {ENOLCK, CAIRN_UNAVAILABLE},
    {EMFILE, CAIRN_UNAVAILABLE},
    {ENFILE, CAIRN_UNAVAILABLE},
    {ECONNRESET, CAIRN_UNAVAILABLE},
    {ECONNREFUSED, CAIRN_UNAVAILABLE},
    {ECONNABORTED, CAIRN_UNAVAILABLE},
    {ENETDOWN, CAIRN_UNAVAILABLE},
    {ENETUNREACH, CAIRN_UNAVAILABLE},
    {ENETRESET, CAIRN_UNAVAILABLE},
    {EHOSTDOWN, CAIRN_UNAVAILABLE},
    {EHOSTUNREACH, CAIRN_UNAVAILABLE},
    {ESTALE, CAIRN_UNAVAILABLE},
    {EDEADLK, CAIRN_UNAVAILABLE},
};

static cairn_code_t code_of_errno(int errnum) {
  for (size_t i = 0; i < sizeof errno_codes / sizeof errno_codes[0]; i++)
    if (errno_codes[i].errnum == errnum) return errno_codes[i].code;
  return CAIRN_IO;
}

cairn_code_t cairn_fail_errno(cairn_error_t *err, int errnum, const char *fmt,
                              ...) {
  char space[128];
  va_list ap;
  cairn_code_t code = code_of_errno(errnum);
  va_start(ap, fmt);
  set(err, code, errnum, strerror_r(errnum, space, sizeof space), fmt, ap);
  va_end(ap);
  return code;
}

cairn_code_t cairn_within(cairn_error_t *err, const char *fmt, ...) {
  char text[ROOM];
  va_list ap;
  if (err == NULL) return CAIRN_INTERNAL;
  if (err->code == CAIRN_OK) return CAIRN_OK;
  va_start(ap, fmt);
  size_t n = format(text, sizeof err->message + 2, fmt, ap);
  va_end(ap);
  n += (size_t)snprintf(text + n, ROOM - n, ": %s", err->message);
  fit(err->message, text, n);
  return err->code;
}

cairn_code_t cairn_error_copy(cairn_error_t *to, const cairn_error_t *from) {
  if (from == NULL) return CAIRN_OK;
  if (to != NULL && to != from && to->code == CAIRN_OK) *to = *from;
  return from->code;
}
