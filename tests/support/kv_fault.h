/* A store that misbehaves on request: it wraps another and fails, or keeps
 * waiting, the n-th call of a kind. Registered like any driver, scheme "fault":
 *
 *   fault:///tmp/x       files below /tmp/x
 *   fault://name/x       memory://name/x
 *   {"driver":"fault","base":<URL or spec>}
 *
 *   kv_fault_t *f = kv_fault_new();
 *   kv_fault_register(rt, f, &err);              (any number of runtimes)
 *   for (int n = 1;; n++) {
 *     kv_fault_set(f, &(kv_fault_rule_t){.kind = KV_FAULT_WRITE, .at = n});
 *     ... the operation under test ...
 *     if (!kv_fault_hit(f)) break;               (n was past the last write)
 *   }
 *
 * The functions here may be called from any thread but the loop's. */
#ifndef TESTS_SUPPORT_KV_FAULT_H_
#define TESTS_SUPPORT_KV_FAULT_H_

#include "cairn/kv.h"

typedef enum kv_fault_kind {
  KV_FAULT_ANY, /* also counts all */
  KV_FAULT_READ,
  KV_FAULT_WRITE,
  KV_FAULT_REMOVE,
  KV_FAULT_LIST, /* and list_dir */
  KV_FAULT_UPLOAD,
  KV_FAULT_PART,
  KV_FAULT_COMMIT,
  KV_FAULT_ABORT,
  KV_FAULT_RENAME,
  KV_FAULT_REMOVE_PREFIX,
  KV_FAULT_SYNC,
  KV_FAULT_KINDS
} kv_fault_kind_t;

typedef enum kv_fault_how {
  KV_FAULT_FAIL,  /* nothing is done, and the error returned */
  KV_FAULT_AFTER, /* it is done, and the error returned all the same */
  KV_FAULT_HOLD,  /* it is done, but not ready before kv_fault_release */
  KV_FAULT_SLOW   /* it is done, and ready `ms` later */
} kv_fault_how_t;

typedef struct kv_fault_rule {
  kv_fault_kind_t kind;
  int at;      /* 1: the first call of that kind; 0: none */
  bool sticky; /* that one and all later ones */
  kv_fault_how_t how;
  cairn_code_t code; /* CAIRN_OK means CAIRN_IO */
  const char
      *key_part; /* only calls whose key holds this text count; or NULL */
  int ms;
} kv_fault_rule_t;

typedef struct kv_fault kv_fault_t;

kv_fault_t *kv_fault_new(void);
/* After the runtimes are closed. */
void kv_fault_free(kv_fault_t *f);
cairn_code_t kv_fault_register(cairn_runtime_t *rt, kv_fault_t *f,
                               cairn_error_t *err);

/* A new rule (NULL: none); counts begin again at 0. The texts must live on. */
void kv_fault_set(kv_fault_t *f, const kv_fault_rule_t *rule);
/* Calls of that kind since then. */
int kv_fault_count(kv_fault_t *f, kv_fault_kind_t kind);
/* Whether the rule met a call. */
bool kv_fault_hit(kv_fault_t *f);
/* Waits until n calls are held. */
void kv_fault_await_held(kv_fault_t *f, int n);
/* Lets all held calls go. */
void kv_fault_release(kv_fault_t *f);

#endif
