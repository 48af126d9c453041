// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "hw/cxl.h"

/* A field is "shift, width", as in pghot/chmu.h. */
#define FIELD		CHMU_GET

#define EXT_CAPS		0x100	/* where the list of extended capabilities begins */
#define EXT_CAP_ID		0, 16
#define EXT_CAP_NEXT		20, 12
#define EXT_CAP_DVSEC		0x23

#define DVSEC_HEADER1		0x04
#define DVSEC_VENDOR		0, 16
#define DVSEC_LENGTH		20, 12
#define DVSEC_HEADER2		0x08
#define DVSEC_ID		0, 16
#define VENDOR_CXL		0x1e98
#define DVSEC_REGISTER_LOCATOR	8

#define LOCATOR_BLOCKS		0x0c	/* pairs of a low and a high half */
#define LOCATOR_BAR		0, 3
#define LOCATOR_ID		8, 8
#define LOCATOR_OFFSET_LOW	16, 16
#define LOCATOR_BARS		6

/* Component registers: those of CXL.cache and CXL.mem begin at 4 KiB. */
#define CM			0x1000
#define CM_ID			0, 16
#define CM_ID_ARRAY		1
#define CM_ARRAY_LENGTH		24, 8
#define CM_POINTER		20, 12
#define CM_ID_HDM		5

#define HDM_CAP			0x00
#define HDM_CAP_COUNT		0, 4
#define HDM_CONTROL		0x04
#define HDM_CONTROL_ENABLE	1, 1
#define HDM_DECODERS		0x10
#define HDM_DECODER_BYTES	0x20
#define HDM_BASE		0x00
#define HDM_SIZE		0x08
#define HDM_LOW			28, 4	/* base and size are multiples of 256 MiB */
#define HDM_DECODER_CONTROL	0x10
#define HDM_WAYS		4, 4	/* 0: not interleaved */
#define HDM_COMMITTED		10, 1
#define HDM_SKIP		0x14	/* device memory to leave out before this decoder's */

/** cxl_error_text - what is wrong with a device, to be put after its name and a colon */
const char *cxl_error_text(enum cxl_error error)
{
#define CXL_ERROR_TEXT(id, text) text,
	static const char * const texts[] = { CXL_ERRORS(CXL_ERROR_TEXT) };
#undef CXL_ERROR_TEXT

	return error < CXL_NR_ERRORS ? texts[error] : "unknown error";
}

/* Where CXL's DVSEC @id is in configuration space, and its length; 0: nowhere. */
static u32 find_dvsec(const struct cxl_io *config, u32 id, u32 *length)
{
	u32 at = EXT_CAPS, header, header1, left = (CXL_CONFIG_BYTES - EXT_CAPS) / 8;

	/* The list may be a loop: it has no more entries than there is room for. */
	while (left-- && at >= EXT_CAPS && at % 4 == 0 &&
	       at + DVSEC_HEADER2 + 4 <= config->bytes) {
		header = config->read(config, at);
		if (!header || header == ~0U)
			return 0;
		if (FIELD(header, EXT_CAP_ID) == EXT_CAP_DVSEC) {
			header1 = config->read(config, at + DVSEC_HEADER1);
			*length = FIELD(header1, DVSEC_LENGTH);
			if (FIELD(header1, DVSEC_VENDOR) == VENDOR_CXL &&
			    FIELD(config->read(config, at + DVSEC_HEADER2), DVSEC_ID) == id)
				return at;
		}
		at = FIELD(header, EXT_CAP_NEXT);
	}
	return 0;
}

/**
 * cxl_blocks - the register blocks of a CXL device
 * @config: its configuration space
 * @blocks: room for CXL_MAX_BLOCKS
 * @nr: how many there are
 *
 * Blocks in a base address register that no function has are left out.
 *
 * Returns CXL_OK or CXL_NO_LOCATOR.
 */
enum cxl_error cxl_blocks(const struct cxl_io *config, struct cxl_block *blocks, u32 *nr)
{
	u32 length = 0, at = find_dvsec(config, DVSEC_REGISTER_LOCATOR, &length), end, low, high;

	*nr = 0;
	if (!at)
		return CXL_NO_LOCATOR;
	end = at + length < config->bytes ? at + length : (u32)config->bytes;
	for (at += LOCATOR_BLOCKS; at + 8 <= end && *nr < CXL_MAX_BLOCKS; at += 8) {
		low = config->read(config, at);
		high = config->read(config, at + 4);
		if (FIELD(low, LOCATOR_BAR) >= LOCATOR_BARS)
			continue;
		blocks[(*nr)++] = (struct cxl_block){
			.id = FIELD(low, LOCATOR_ID),
			.bar = FIELD(low, LOCATOR_BAR),
			.offset = (u64)high << 32 | FIELD(low, LOCATOR_OFFSET_LOW) << 16,
		};
	}
	return CXL_OK;
}

/* Where the capability @id is among the component registers; 0: nowhere. */
static u64 find_capability(const struct cxl_io *io, u32 id)
{
	u32 header = io->read(io, CM), entry, i;

	for (i = 1; i <= FIELD(header, CM_ARRAY_LENGTH) && CM + i * 4 + 4 <= io->bytes; i++) {
		entry = io->read(io, CM + i * 4);
		if (FIELD(entry, CM_ID) == id && FIELD(entry, CM_POINTER) % 4 == 0)
			return CM + FIELD(entry, CM_POINTER);
	}
	return 0;
}

/* 0: 1 decoder; to 8: twice so many; then by fours. 0 for what is reserved. */
static u32 decoder_count(u32 field)
{
	if (!field)
		return 1;
	if (field <= 8)
		return 2 * field;
	return field <= 12 ? 20 + 4 * (field - 9) : 0;
}

static u64 read_pair(const struct cxl_io *io, u64 at, bool multiple)
{
	u32 low = io->read(io, at);

	if (multiple)
		low = CHMU_PUT(FIELD(low, HDM_LOW), HDM_LOW);
	return (u64)io->read(io, at + 4) << 32 | low;
}

/*
 * Add the decoder at @at to the map, which ends at device address *dpa. What decoders map follows each
 * other on the device, but for what they skip.
 */
static enum cxl_error add_decoder(const struct cxl_io *io, u64 at, u64 *dpa, struct chmu_map *map)
{
	u32 control = io->read(io, at + HDM_DECODER_CONTROL);
	u64 base, bytes, skip;

	if (!FIELD(control, HDM_COMMITTED))
		return CXL_OK;
	if (FIELD(control, HDM_WAYS))
		return CXL_INTERLEAVED;
	base = read_pair(io, at + HDM_BASE, true);
	bytes = read_pair(io, at + HDM_SIZE, true);
	skip = read_pair(io, at + HDM_SKIP, false);
	if (!bytes || base + bytes < base || *dpa + skip < skip ||
	    *dpa + skip + bytes < bytes || map->nr == CHMU_MAX_RANGES)
		return CXL_BAD_DECODER;
	map->range[map->nr++] = (struct chmu_range){ .dpa = *dpa + skip, .hpa = base, .bytes = bytes };
	*dpa += skip + bytes;
	return CXL_OK;
}

/**
 * cxl_map - where the host has a device's memory
 * @component: its component registers
 * @map: to be filled in
 *
 * Returns CXL_OK, or what is wrong: CXL_INTERLEAVED also if one of several decoders is.
 */
enum cxl_error cxl_map(const struct cxl_io *component, struct chmu_map *map)
{
	u32 header, count, i;
	u64 hdm, dpa = 0;
	enum cxl_error error;

	map->nr = 0;
	if (component->bytes < CM + 4)
		return CXL_TRUNCATED;
	header = component->read(component, CM);
	if (FIELD(header, CM_ID) != CM_ID_ARRAY)
		return CXL_NO_COMPONENT;
	hdm = find_capability(component, CM_ID_HDM);
	if (!hdm)
		return CXL_NO_DECODERS;
	if (hdm + HDM_DECODERS > component->bytes)
		return CXL_TRUNCATED;
	count = decoder_count(FIELD(component->read(component, hdm + HDM_CAP), HDM_CAP_COUNT));
	if (!count)
		return CXL_BAD_DECODER;
	if (hdm + HDM_DECODERS + (u64)count * HDM_DECODER_BYTES > component->bytes)
		return CXL_TRUNCATED;
	if (!FIELD(component->read(component, hdm + HDM_CONTROL), HDM_CONTROL_ENABLE))
		return CXL_DISABLED;
	for (i = 0; i < count; i++) {
		error = add_decoder(component, hdm + HDM_DECODERS + i * HDM_DECODER_BYTES, &dpa, map);
		if (error)
			return error;
	}
	return map->nr ? CXL_OK : CXL_NO_RANGE;
}
