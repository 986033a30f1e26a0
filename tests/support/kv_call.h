/* Stores for tests that read from top to bottom: each call of <cairn/kv.h>,
 * begun on the loop thread and waited for on the test's. err may be NULL. */
#ifndef TESTS_SUPPORT_KV_CALL_H_
#define TESTS_SUPPORT_KV_CALL_H_

#include "cairn/kv.h"

cairn_code_t kv_call_open(cairn_runtime_t *rt, const char *url,
                          cairn_kv_t **out, cairn_error_t *err);
cairn_code_t kv_call_close(cairn_kv_t *kv, cairn_error_t *err);
/* A view, made on the loop thread. */
cairn_kv_t *kv_call_prefix(cairn_kv_t *kv, const char *prefix);

cairn_code_t kv_call_read(cairn_kv_t *kv, cairn_bytes_t key,
                          const cairn_read_opts_t *o, cairn_value_t *out,
                          cairn_error_t *err);
cairn_code_t kv_call_write(cairn_kv_t *kv, cairn_bytes_t key,
                           const struct iovec *iov, int niov,
                           const cairn_write_opts_t *o, cairn_written_t *out,
                           cairn_error_t *err);
cairn_code_t kv_call_remove(cairn_kv_t *kv, cairn_bytes_t key,
                            const cairn_write_opts_t *o, cairn_written_t *out,
                            cairn_error_t *err);
cairn_code_t kv_call_rename(cairn_kv_t *kv, const char *from, const char *to,
                            cairn_error_t *err);
cairn_code_t kv_call_remove_prefix(cairn_kv_t *kv, const char *prefix,
                                   cairn_error_t *err);
cairn_code_t kv_call_sync(cairn_kv_t *kv, const char *prefix,
                          cairn_error_t *err);

/* A text as the value of a key. */
cairn_code_t kv_call_put(cairn_kv_t *kv, const char *key, const char *text,
                         cairn_error_t *err);
/* The value as a string for free(); NULL if it is missing or the read failed.
 */
char *kv_call_get(cairn_kv_t *kv, const char *key);

/* "key:size key:size ..." in the order of the listing, for free(); at most
 * `max` keys (0: all). NULL: failed. */
char *kv_call_list(cairn_kv_t *kv, const char *prefix, int max,
                   cairn_error_t *err);
char *kv_call_list_dir(cairn_kv_t *kv, const char *prefix, cairn_error_t *err);

cairn_code_t kv_call_upload(cairn_kv_t *kv, const char *key,
                            const cairn_write_opts_t *o, cairn_upload_t **out,
                            cairn_error_t *err);
cairn_code_t kv_call_part(cairn_kv_t *kv, cairn_upload_t *u, uint64_t offset,
                          const char *text, cairn_error_t *err);
cairn_code_t kv_call_commit(cairn_kv_t *kv, cairn_upload_t *u,
                            cairn_error_t *err);
cairn_code_t kv_call_abort(cairn_kv_t *kv, cairn_upload_t *u,
                           cairn_error_t *err);

#endif
