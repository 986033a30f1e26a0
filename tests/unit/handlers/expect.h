/* The fixtures' expect.json, and trees made from it. */
#ifndef TESTS_UNIT_HANDLERS_EXPECT_H_
#define TESTS_UNIT_HANDLERS_EXPECT_H_

#include "cairn/json.h"
#include "cairn/tree.h"

typedef struct expect_item {
  char label[160];  /* "b03_mgr_items_root_metadata 5 state" */
  char fixture[80]; /* name of the case */
  char url[1200];   /* of the item's directory */
  const char *type; /* "pytree", "json", ... */
  const cairn_json_t *json;
} expect_item_t;

/* Calls fn for every item of every fixture, or of the one named. False: there
 * are no fixtures. */
bool expect_each(const char *fixture, void (*fn)(const expect_item_t *item));

/* A tree with memory of its own for every leaf of a pytree item: boxes that the
 * sharding gives each device when `sharded`, whole arrays else. */
cairn_tree_t *expect_tree(const expect_item_t *item, bool sharded);
/* Compares what is in the tree's memory with what the fixture says; the number
 * of differences, each logged. */
int expect_differences(const expect_item_t *item, const cairn_tree_t *tree);

/* A file of the fixture, for free(); NULL if there is none. */
char *expect_file(const expect_item_t *item, const char *name, size_t *n);
/* Text of a JSON string, for free(). */
char *expect_str(const cairn_json_t *v);

#endif
