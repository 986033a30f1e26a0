/* Descriptions into bytes. On the caller's thread, once per leaf and save. */
#include "desc.h"

static uint64_t zigzag(int64_t v) {
  return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}

static void put_text(cairn_buf_t *out, cairn_bytes_t text) {
  cairn_buf_put_varint(out, text.n);
  cairn_buf_put(out, text.p, text.n);
}

static void put_numbers(cairn_buf_t *out, int n, const int64_t *v) {
  for (int i = 0; i < n; i++) cairn_buf_put_varint(out, (uint64_t)v[i]);
}

void cairn__desc_begin(cairn__desc_writer_t *w, size_t leaves) {
  cairn_buf_put_u8(w->out, CAIRN__DESC_VERSION);
  cairn_buf_put_varint(w->out, leaves);
}

void cairn__plan_begin(cairn__desc_writer_t *w, int ranks, size_t leaves) {
  cairn_buf_put_u8(w->out, CAIRN__DESC_VERSION);
  cairn_buf_put_varint(w->out, (uint64_t)ranks);
  cairn_buf_put_varint(w->out, leaves);
}

/* Heads ---------------------------------------------------------------------
 */

static void put_keys(cairn_buf_t *out, const cairn_leaf_t *leaf) {
  cairn_buf_put_varint(out, leaf->path_n);
  for (size_t i = 0; i < leaf->path_n; i++) {
    const cairn_key_t *k = &leaf->path[i];
    cairn_buf_put_u8(out, (uint8_t)k->type);
    if (k->type == CAIRN_KEY_SEQ || k->type == CAIRN_KEY_INT)
      cairn_buf_put_varint(out, zigzag(k->index));
    else
      put_text(out, k->name);
  }
}

static int64_t mesh_devices(const cairn_sharding_t *s) {
  int64_t n = 1;
  for (int i = 0; i < s->mesh_rank; i++) n *= s->mesh_shape[i];
  return n;
}

static bool same_mesh(const cairn_sharding_t *a, const cairn_sharding_t *b) {
  if (a->mesh_rank != b->mesh_rank) return false;
  for (int i = 0; i < a->mesh_rank; i++)
    if (a->mesh_shape[i] != b->mesh_shape[i] ||
        strcmp(a->axis_names[i], b->axis_names[i]) != 0)
      return false;
  if (a->device_ids == b->device_ids) return true;
  return memcmp(a->device_ids, b->device_ids,
                (size_t)mesh_devices(a) * sizeof *a->device_ids) == 0;
}

static void put_mesh(cairn_buf_t *out, const cairn_sharding_t *s) {
  int64_t n = mesh_devices(s);
  cairn_buf_put_varint(out, (uint64_t)s->mesh_rank);
  put_numbers(out, s->mesh_rank, s->mesh_shape);
  for (int i = 0; i < s->mesh_rank; i++)
    put_text(out, cairn_bytes_str(s->axis_names[i]));
  for (int64_t i = 0; i < n; i++)
    cairn_buf_put_varint(out, zigzag(s->device_ids[i]));
}

/* An entry of the spec: 0 for none, else its length + 1 and the text. */
static void put_spec(cairn_buf_t *out, const cairn_sharding_t *s) {
  cairn_buf_put_varint(out, (uint64_t)s->spec_rank);
  for (int i = 0; i < s->spec_rank; i++) {
    cairn_bytes_t text = cairn_bytes_str(s->spec[i]);
    cairn_buf_put_varint(out, s->spec[i] != NULL ? text.n + 1 : 0);
    cairn_buf_put(out, text.p, text.n);
  }
}

static void patch_u32le(cairn_buf_t *b, size_t at, size_t v) {
  if (b->failed) return;
  for (int i = 0; i < 4; i++) b->p[at + (size_t)i] = (uint8_t)(v >> (8 * i));
}

/* The length of a part is known when it is there. A part of 4 GiB is none. */
static size_t begin_part(cairn_buf_t *out) {
  cairn_buf_put_u32le(out, 0);
  return out->n;
}

static void end_part(cairn_buf_t *out, size_t at) {
  size_t n = out->n - at;
  if (n > UINT32_MAX) out->failed = true;
  patch_u32le(out, at - 4, n);
}

static void put_sharding(cairn__desc_writer_t *w, const cairn_sharding_t *s) {
  bool again = w->mesh != NULL && same_mesh(w->mesh, s);
  size_t at;
  cairn_buf_put_u8(w->out, !again);
  if (!again) {
    at = begin_part(w->out);
    put_mesh(w->out, s);
    end_part(w->out, at);
  }
  at = begin_part(w->out);
  put_spec(w->out, s);
  end_part(w->out, at);
  w->mesh = s;
}

void cairn__desc_leaf(cairn__desc_writer_t *w, const cairn_leaf_t *leaf) {
  cairn__form_t form = cairn__form_of(leaf);
  size_t at = begin_part(w->out);
  put_keys(w->out, leaf);
  cairn_buf_put_u8(w->out, (uint8_t)form);
  if (cairn__form_info(form)->stored) {
    int rank = form == CAIRN__FORM_SCALAR ? 0 : leaf->rank;
    cairn_buf_put_u8(w->out, (uint8_t)leaf->dtype);
    cairn_buf_put_varint(w->out, (uint64_t)rank);
    put_numbers(w->out, rank, leaf->shape);
  }
  if (form == CAIRN__FORM_JAX) put_sharding(w, leaf->sharding);
  end_part(w->out, at);
}

void cairn__plan_head(cairn__desc_writer_t *w, cairn_bytes_t head) {
  cairn_buf_put_u32le(w->out, (uint32_t)head.n);
  cairn_buf_put(w->out, head.p, head.n);
}

/* Boxes ---------------------------------------------------------------------
 */

static bool is_whole(int rank, const int64_t *shape, const cairn_box_t *b) {
  for (int i = 0; i < rank; i++)
    if (b->origin[i] != 0 || b->extent[i] != shape[i]) return false;
  return true;
}

void cairn__desc_boxes(cairn__desc_writer_t *w, int rank, const int64_t *shape,
                       const cairn_box_t *boxes, size_t n) {
  if (n == 1 && is_whole(rank, shape, boxes)) {
    cairn_buf_put_varint(w->out, 1);
    return;
  }
  cairn_buf_put_varint(w->out, n != 0 ? n + 1 : 0);
  for (size_t i = 0; i < n; i++) {
    put_numbers(w->out, rank, boxes[i].origin);
    put_numbers(w->out, rank, boxes[i].extent);
  }
}

void cairn__plan_all_hold(cairn__desc_writer_t *w) {
  cairn_buf_put_varint(w->out, 0);
}

void cairn__plan_num_boxes(cairn__desc_writer_t *w, size_t n) {
  cairn_buf_put_varint(w->out, n + 1);
}

void cairn__plan_box(cairn__desc_writer_t *w, int owner, int rank,
                     const int64_t *origin, const int64_t *extent) {
  cairn_buf_put_varint(w->out, (uint64_t)owner);
  put_numbers(w->out, rank, origin);
  put_numbers(w->out, rank, extent);
}
