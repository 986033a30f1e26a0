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

/* Ends a text that did not fit in "...", without half a character before it. */
static void mark_cut(char *text, size_t cap) {
  size_t at = cap - 4;
  while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80) at--;
  memcpy(text + at, "...", 4);
}

/* Appends to the text of length *n in text[cap], where *n never passes cap - 1;
 * *cut is set once something was left out. */
static void append_v(char *text, size_t cap, size_t *n, bool *cut,
                     const char *fmt, va_list ap) {
  int len = vsnprintf(text + *n, cap - *n, fmt, ap);
  if (len < 0) {
    text[*n] = '\0';
    *cut = true;
  } else if ((size_t)len >= cap - *n) {
    *n = cap - 1;
    *cut = true;
  } else {
    *n += (size_t)len;
  }
}

static void append(char *text, size_t cap, size_t *n, bool *cut,
                   const char *fmt, ...) CAIRN_PRINTF(5, 6);
static void append(char *text, size_t cap, size_t *n, bool *cut,
                   const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  append_v(text, cap, n, cut, fmt, ap);
  va_end(ap);
}

/* `tail` (may be NULL) follows the formatted text after ": ". */
static void set(cairn_error_t *err, cairn_code_t code, int errnum,
                const char *tail, const char *fmt, va_list ap) {
  if (err == NULL || err->code != CAIRN_OK) return;
  size_t n = 0;
  bool cut = false;
  err->code = code;
  err->sys_errno = errnum;
  err->rank = -1;
  append_v(err->message, sizeof err->message, &n, &cut, fmt, ap);
  if (tail != NULL)
    append(err->message, sizeof err->message, &n, &cut, ": %s", tail);
  if (cut) mark_cut(err->message, sizeof err->message);
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
  char text[CAIRN_MESSAGE_BYTES];
  size_t n = 0;
  bool cut = false;
  va_list ap;
  if (err == NULL) return CAIRN_INTERNAL;
  if (err->code == CAIRN_OK) return CAIRN_OK;
  va_start(ap, fmt);
  append_v(text, sizeof text, &n, &cut, fmt, ap);
  va_end(ap);
  append(text, sizeof text, &n, &cut, ": %s", err->message);
  if (cut) mark_cut(text, sizeof text);
  memcpy(err->message, text, sizeof text);
  return err->code;
}

cairn_code_t cairn_error_copy(cairn_error_t *to, const cairn_error_t *from) {
  if (from == NULL) return CAIRN_OK;
  if (to != NULL && to != from && to->code == CAIRN_OK) *to = *from;
  return from->code;
}
