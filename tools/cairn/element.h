/* One element of an array as a number, as text and as JSON. Elements are in
 * memory as handlers give them: native byte order. */
#ifndef CAIRN_TOOL_ELEMENT_H_
#define CAIRN_TOOL_ELEMENT_H_

#include "cairn/buf.h"

/* A type of at most 16 bits that floats, as a double (exact). */
double element_small_float(cairn_dtype_t t, uint32_t bits);

/* For people: the shortest text that reads back as the same element. */
void put_element(cairn_buf_t *b, cairn_dtype_t t, const void *element);
/* Floats as the double of the same value; complex ones as [re, im]. */
void json_element(cairn_buf_t *b, cairn_dtype_t t, const void *element);

/* n elements to little-endian and, for types below a byte, to bytes whose high
 * bits are zero: what SHA-256 goes over and --raw writes. */
void elements_to_stored(cairn_dtype_t t, void *p, size_t n);

/* The type of a .npy file that holds the elements: numpy's own name where it
 * has the type, else the integer of the same bits (or, below a byte, of the
 * same value), and then *carried is true. */
const char *element_npy_type(cairn_dtype_t t, bool *carried);
/* Stored elements to what such a file holds. */
void elements_to_npy(cairn_dtype_t t, void *p, size_t n);

#endif
