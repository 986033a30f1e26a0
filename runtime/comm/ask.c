/* Who is awaited, exactly. A rank that waits sees its children only, and one of
 * them that has children itself may be there and waiting too. So before it
 * warns, it asks those (ASK); a child that is there answers with the set of
 * ranks that it waits for (NOTE), having asked in the same way. Who does not
 * answer is not there. Only the warning depends on this. */
#include "comm/lane.h"

bool cairn__ask(cairn__lane_t *lane, int64_t grace_ms) {
  cairn__frame_t *f = &lane->frames[CAIRN__ASK];
  bool any = false;
  for (int i = 0; i < lane->n_kids; i++) {
    cairn__edge_t *kid = &lane->kids[i];
    if (!kid->waiting || lane->comm->heights[kid->rank] == 0) continue;
    any = true;
    kid->noted = false;
    if (!cairn__edge_flushed(kid)) continue; /* it has taken nothing so far */
    *f = lane->sum;
    f->kind = CAIRN__ASK;
    f->payload = 0;
    f->max_value = grace_ms;
    cairn__edge_send(kid, f, sizeof *f);
  }
  return any;
}

const uint8_t *cairn__awaited(cairn__lane_t *lane) {
  uint8_t *set = lane->awaited_set;
  memset(set, 0, lane->bitmap_n);
  for (int i = 0; i < lane->n_kids; i++) {
    const cairn__edge_t *kid = &lane->kids[i];
    if (!kid->waiting) continue;
    if (!kid->noted) cairn__set_add(set, kid->rank);
    for (size_t k = 0; kid->noted && k < lane->bitmap_n; k++)
      set[k] |= kid->note[k];
  }
  return set;
}

/* Not while an earlier note is on its way: its memory is in use. */
void cairn__answer(cairn__lane_t *lane) {
  cairn__frame_t *f = &lane->frames[CAIRN__NOTE];
  if (!cairn__edge_flushed(&lane->parent)) return;
  *f = lane->sum;
  f->kind = CAIRN__NOTE;
  f->payload = 0;
  f->text = 0;
  f->flags = CAIRN__F_MISSING;
  memcpy(lane->note, cairn__awaited(lane), lane->bitmap_n);
  cairn__edge_send(&lane->parent, f, sizeof *f);
  cairn__edge_send(&lane->parent, lane->note, lane->bitmap_n);
}

void cairn__take_note(cairn__edge_t *kid) {
  if (kid->note == NULL || (kid->frame.flags & CAIRN__F_MISSING) == 0) return;
  kid->noted = true;
  memcpy(kid->note, kid->tail + kid->frame.text, kid->lane->bitmap_n);
}
