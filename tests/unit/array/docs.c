#include "docs.h"

#include <stdio.h>

const doc_member_t zarr2_members[8] = {
    {"zarr_format", "2"}, {"shape", "[4,6]"},     {"chunks", "[2,3]"},
    {"dtype", "\"<i4\""}, {"compressor", "null"}, {"fill_value", "null"},
    {"order", "\"C\""},   {"filters", "null"},
};

const doc_member_t zarr3_members[8] = {
    {"zarr_format", "3"},
    {"node_type", "\"array\""},
    {"data_type", "\"int32\""},
    {"fill_value", "0"},
    {"shape", "[4,6]"},
    {"chunk_grid",
     "{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[2,3]}}"},
    {"chunk_key_encoding", "{\"name\":\"default\"}"},
    {"codecs",
     "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]"},
};

static char text[1 << 16];
static size_t used;

static void add(const char *key, const char *value) {
  if (value == NULL) return;
  used += (size_t)snprintf(text + used, sizeof text - used, "%s\"%s\":%s",
                           used > 1 ? "," : "", key, value);
}

const char *doc_with2(int version, const char *key, const char *value,
                      const char *key2, const char *value2) {
  const doc_member_t *members = version == 2 ? zarr2_members : zarr3_members;
  used = (size_t)snprintf(text, sizeof text, "{");
  for (int i = 0; i < 8; i++) {
    bool other = key2 != NULL && strcmp(members[i].key, key2) == 0;
    if (strcmp(members[i].key, key) != 0 && !other)
      add(members[i].key, members[i].value);
  }
  add(key, value);
  if (key2 != NULL) add(key2, value2);
  snprintf(text + used, sizeof text - used, "}");
  return text;
}

const char *doc_with(int version, const char *key, const char *value) {
  return doc_with2(version, key, value, NULL, NULL);
}
