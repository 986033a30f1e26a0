/* The two ways to sum that cairn__crc32c chooses between, apart so that tests
 * see both on any machine. Both work on the raw register: the caller inverts
 * before and after. */
#ifndef CAIRN_BASE_CRC32C_H_
#define CAIRN_BASE_CRC32C_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Eight tables of 256; works everywhere. */
uint32_t cairn__crc32c_tables(uint32_t reg, const uint8_t *p, size_t n);

/* The processor's instruction. Call it only where _have says yes. */
bool cairn__crc32c_hw_have(void);
uint32_t cairn__crc32c_hw(uint32_t reg, const uint8_t *p, size_t n);

/* The register after n_bytes zero bytes, in time log n_bytes. */
uint32_t cairn__crc32c_zeros(uint32_t reg, uint64_t n_bytes);

#endif
