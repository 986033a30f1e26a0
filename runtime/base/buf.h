/* The private names of <cairn/buf.h>. */
#ifndef CAIRN_BASE_BUF_H_
#define CAIRN_BASE_BUF_H_

#include "cairn/buf.h"

#define cairn__buf cairn_buf
#define cairn__buf_bytes cairn_buf_bytes
#define cairn__buf_printf cairn_buf_printf
#define cairn__buf_put cairn_buf_put
#define cairn__buf_put_str cairn_buf_put_str
#define cairn__buf_put_u32le cairn_buf_put_u32le
#define cairn__buf_put_u64le cairn_buf_put_u64le
#define cairn__buf_put_u8 cairn_buf_put_u8
#define cairn__buf_put_varint cairn_buf_put_varint
#define cairn__buf_reserve cairn_buf_reserve
#define cairn__buf_reset cairn_buf_reset
#define cairn__buf_steal cairn_buf_steal
#define cairn__buf_t cairn_buf_t
#define cairn__cur cairn_cur
#define cairn__cur_left cairn_cur_left
#define cairn__cur_pos cairn_cur_pos
#define cairn__cur_t cairn_cur_t
#define cairn__cur_take cairn_cur_take
#define cairn__cur_u32le cairn_cur_u32le
#define cairn__cur_u64le cairn_cur_u64le
#define cairn__cur_u8 cairn_cur_u8
#define cairn__cur_varint32 cairn_cur_varint32
#define cairn__cur_varint64 cairn_cur_varint64

#endif
