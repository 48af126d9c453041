/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * cxl - where a CXL memory device has its registers, and where the host has its memory
 *
 * Layouts: Compute Express Link specification 3.1, "Register Locator DVSEC", "CXL.cache and CXL.mem
 * Registers" and "CXL HDM Decoder Capability Structure"; PCI Express, "Designated Vendor-Specific
 * Extended Capability". Everything is read through callbacks, and each register once.
 */
#ifndef PGHOT_HW_CXL_H
#define PGHOT_HW_CXL_H

#include "engine/port.h"
#include "hw/chmu.h"

enum {
	CXL_CONFIG_BYTES = 4096,	/* of a PCI Express function's configuration space */
	CXL_BLOCK_COMPONENT = 1,	/* register block identifiers */
	CXL_BLOCK_CHMU = 5,
	CXL_MAX_BLOCKS = 32,
};

/* X(ID, what is wrong, for people) */
#define CXL_ERRORS(X)								\
	X(OK, "nothing")							\
	X(NO_LOCATOR, "it has no register locator")				\
	X(NO_COMPONENT, "it has no component registers of a kind that is known") \
	X(NO_DECODERS, "it has no HDM decoder capability")			\
	X(TRUNCATED, "its component registers do not fit what is mapped")	\
	X(DISABLED, "its HDM decoders are not enabled")				\
	X(INTERLEAVED, "its memory is interleaved with other devices', and its place among them is unknown") \
	X(BAD_DECODER, "an HDM decoder of it makes no sense")			\
	X(NO_RANGE, "no HDM decoder of it is committed")

#define CXL_ERROR_ENUM(id, text) CXL_##id,
enum cxl_error {
	CXL_ERRORS(CXL_ERROR_ENUM)
	CXL_NR_ERRORS
};
#undef CXL_ERROR_ENUM

/**
 * struct cxl_io - 32-bit registers in the order of the machine: configuration space, or a mapped block
 * @bytes: how much can be reached
 * @read: the register at @offset, a multiple of 4 below @bytes
 */
struct cxl_io {
	u64 bytes;
	u32 (*read)(const struct cxl_io *io, u64 offset);
};

/**
 * struct cxl_block - a register block
 * @id: CXL_BLOCK_*, or another kind
 * @bar: in which of the function's base address registers
 * @offset: from its start, bytes
 */
struct cxl_block {
	u32 id;
	u32 bar;
	u64 offset;
};

const char *cxl_error_text(enum cxl_error error);
enum cxl_error cxl_blocks(const struct cxl_io *config, struct cxl_block *blocks, u32 *nr);
enum cxl_error cxl_map(const struct cxl_io *component, struct chmu_map *map);

#endif
