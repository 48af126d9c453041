// SPDX-License-Identifier: GPL-2.0-only
/* Register images of CXL memory devices, sound and broken: where their blocks and their memory are. */
#include <string.h>

#include "../../hw/cxl.h"
#include "../tap.h"

enum { COMPONENT = 65536, CM = 0x1000, HDM = CM + 0x180 };

#define GIB	(1ULL << 30)

struct image {
	struct cxl_io io;
	u32 words[COMPONENT / 4];
	u32 reads, beyond;
};

static struct image config, component;

static u32 image_read(const struct cxl_io *io, u64 offset)
{
	struct image *image = (struct image *)io;

	image->reads++;
	if (offset % 4 || offset + 4 > io->bytes) {
		image->beyond++;
		return ~0U;
	}
	return image->words[offset / 4];
}

static void set(struct image *image, u64 at, u32 value)
{
	image->words[at / 4] = value;
}

static void set_pair(struct image *image, u64 at, u64 value)
{
	set(image, at, value);
	set(image, at + 4, value >> 32);
}

static void ext_cap(u32 at, u32 id, u32 next)
{
	set(&config, at, id | 1 << 16 | next << 20);
}

static void dvsec(u32 at, u32 next, u32 vendor, u32 id, u32 length)
{
	ext_cap(at, 0x23, next);
	set(&config, at + 4, vendor | length << 20);
	set(&config, at + 8, id);
}

static void block(u32 at, u32 n, u32 id, u32 bar, u64 offset)
{
	set(&config, at + 0x0c + n * 8, bar | id << 8 | (u32)(offset & 0xffff0000));
	set(&config, at + 0x10 + n * 8, offset >> 32);
}

/* The order is that of a device with DOE, serial number and several DVSECs before the locator. */
static void sound_config(void)
{
	memset(&config, 0, sizeof(config));
	config.io = (struct cxl_io){ CXL_CONFIG_BYTES, image_read };
	ext_cap(0x100, 0x03, 0x110);
	dvsec(0x110, 0x150, 0x1e98, 0, 0x3c);
	dvsec(0x150, 0x180, 0x1af4, 8, 0x24);
	ext_cap(0x180, 0x2e, 0x200);
	dvsec(0x200, 0, 0x1e98, 8, 0x0c + 4 * 8);
	block(0x200, 0, CXL_BLOCK_COMPONENT, 0, 0);
	block(0x200, 1, 3, 2, 0x10000);
	block(0x200, 2, CXL_BLOCK_CHMU, 4, 0x123450000ULL);
	block(0x200, 3, CXL_BLOCK_CHMU, 2, 0x20000);
}

static void test_blocks(void)
{
	struct cxl_block blocks[CXL_MAX_BLOCKS];
	u32 nr;

	sound_config();
	is(cxl_blocks(&config.io, blocks, &nr), CXL_OK, "a register locator among other capabilities");
	is(nr, 4, "has 4 blocks");
	ok(blocks[0].id == CXL_BLOCK_COMPONENT && blocks[0].bar == 0 && blocks[0].offset == 0,
	   "component registers");
	ok(blocks[2].id == CXL_BLOCK_CHMU && blocks[2].bar == 4 && blocks[2].offset == 0x123450000ULL,
	   "a hotness unit far into its BAR");
	ok(blocks[3].id == CXL_BLOCK_CHMU && blocks[3].bar == 2 && blocks[3].offset == 0x20000,
	   "and another one");
	block(0x200, 3, CXL_BLOCK_CHMU, 7, 0x20000);
	cxl_blocks(&config.io, blocks, &nr);
	is(nr, 3, "a BAR that no function has is left out");
	sound_config();
	set(&config, 0x204, 0x1e98 | (0x0c + 3 * 8 + 4) << 20);
	cxl_blocks(&config.io, blocks, &nr);
	is(nr, 3, "half a block at the end is none");
	set(&config, 0x204, 0x1e98 | 4 << 20);
	cxl_blocks(&config.io, blocks, &nr);
	is(nr, 0, "a locator that is too short has none");
	set(&config, 0x204, 0x1e98 | 0xfffU << 20);
	cxl_blocks(&config.io, blocks, &nr);
	is(nr, CXL_MAX_BLOCKS, "one that is too long has as many as there is room for");
	sound_config();
	dvsec(0xff0, 0, 0x1e98, 8, 0xffc);
	dvsec(0x200, 0xff0, 0x1e98, 9, 0xc);
	cxl_blocks(&config.io, blocks, &nr);
	is(nr, 0, "one at the end of configuration space has none beyond it");
	is(config.beyond, 0, "and is not read beyond");
}

static void no_locator(const char *name)
{
	struct cxl_block blocks[CXL_MAX_BLOCKS];
	u32 nr = 1;
	enum cxl_error error = cxl_blocks(&config.io, blocks, &nr);

	ok(error == CXL_NO_LOCATOR && !nr && !config.beyond && config.reads < 2000,
	   "%s: %s, after %u reads", name, cxl_error_text(error), config.reads);
}

static void test_no_locator(void)
{
	sound_config();
	dvsec(0x200, 0x110, 0x1e98, 9, 0x2c);
	no_locator("capabilities in a loop");
	sound_config();
	ext_cap(0x180, 0x2e, 0x180);
	no_locator("one that is its own next");
	sound_config();
	ext_cap(0x180, 0x2e, 0x202);
	no_locator("a misaligned next");
	sound_config();
	ext_cap(0x180, 0x2e, 0x40);
	no_locator("a next among the standard capabilities");
	sound_config();
	ext_cap(0x180, 0x23, 0xffc);
	no_locator("a header at the very end");
	sound_config();
	memset(config.words, 0xff, sizeof(config.words));
	no_locator("a device that has gone");
	sound_config();
	config.io.bytes = 256;
	no_locator("a function without extended space");
}

static void decoder(u32 n, u64 base, u64 bytes, u64 skip, u32 control)
{
	u64 at = HDM + 0x10 + n * 0x20;

	set_pair(&component, at, base);
	set_pair(&component, at + 8, bytes);
	set(&component, at + 0x10, control);
	set_pair(&component, at + 0x14, skip);
}

enum { COMMITTED = 1 << 10, HOST_ONLY = 1 << 12 };

static void sound_component(void)
{
	memset(&component, 0, sizeof(component));
	component.io = (struct cxl_io){ COMPONENT, image_read };
	set(&component, CM, 1 | 1 << 16 | 1 << 20 | 3U << 24);
	set(&component, CM + 4, 2 | 2 << 16 | 0x80U << 20);
	set(&component, CM + 8, 4 | 2 << 16 | 0x100U << 20);
	set(&component, CM + 12, 5 | 3 << 16 | (HDM - CM) << 20);
	set(&component, HDM, 2);	/* 4 decoders */
	set(&component, HDM + 4, 2);
	decoder(0, 16 * GIB, 4 * GIB, 0, COMMITTED | HOST_ONLY);
	decoder(1, 64 * GIB, 2 * GIB, GIB, COMMITTED | HOST_ONLY | 3);
	decoder(2, 8 * GIB, GIB, 0, COMMITTED);
	decoder(3, 0, GIB, 0, 0);
}

static void test_map(void)
{
	struct chmu_map map;

	sound_component();
	is(cxl_map(&component.io, &map), CXL_OK, "decoders that are not interleaved");
	is(map.nr, 3, "3 of 4 are committed");
	ok(map.range[0].dpa == 0 && map.range[0].hpa == 16 * GIB && map.range[0].bytes == 4 * GIB,
	   "the first");
	ok(map.range[1].dpa == 5 * GIB && map.range[1].hpa == 64 * GIB &&
	   map.range[1].bytes == 2 * GIB, "the second, after what it skips");
	ok(map.range[2].dpa == 7 * GIB && map.range[2].hpa == 8 * GIB && map.range[2].bytes == GIB,
	   "the third, after both");
	is(chmu_map_check(&map, 4096), CHMU_OK, "it is a map");
	decoder(0, 16 * GIB | 0xfffffff, 4 * GIB | 0xabcdef, 0, COMMITTED);
	cxl_map(&component.io, &map);
	ok(map.range[0].hpa == 16 * GIB && map.range[0].bytes == 4 * GIB,
	   "low bits of bases and sizes are reserved");
}

static void map_is(enum cxl_error want, const char *name)
{
	struct chmu_map map;
	enum cxl_error error = cxl_map(&component.io, &map);

	ok(error == want && !component.beyond && component.reads < 1000, "%s: %s", name,
	   cxl_error_text(error));
}

static void test_refused(void)
{
	u32 n;

	sound_component();
	decoder(1, 64 * GIB, 2 * GIB, 0, COMMITTED | 1 << 4);
	map_is(CXL_INTERLEAVED, "2 ways");
	sound_component();
	decoder(1, 64 * GIB, 3 * GIB, 0, COMMITTED | 8 << 4);
	map_is(CXL_INTERLEAVED, "3 ways");
	sound_component();
	decoder(1, 64 * GIB, 2 * GIB, 0, 1 << 4);
	map_is(CXL_OK, "2 ways, but not committed");
	sound_component();
	decoder(0, 16 * GIB, 0, 0, COMMITTED);
	map_is(CXL_BAD_DECODER, "committed with size 0");
	decoder(0, ~0ULL << 28, GIB, 0, COMMITTED);
	map_is(CXL_BAD_DECODER, "over the end of host addresses");
	decoder(0, GIB, GIB, ~0ULL, COMMITTED);
	map_is(CXL_BAD_DECODER, "over the end of device addresses");
	sound_component();
	set(&component, HDM, 13);
	map_is(CXL_BAD_DECODER, "a reserved number of decoders");
	sound_component();
	set(&component, HDM + 4, 0);
	map_is(CXL_DISABLED, "decoders that are off");
	sound_component();
	decoder(0, 0, 0, 0, 0);
	decoder(1, 0, 0, 0, 0);
	decoder(2, 0, 0, 0, 0);
	map_is(CXL_NO_RANGE, "none committed");
	sound_component();
	set(&component, CM, 0);
	map_is(CXL_NO_COMPONENT, "no capability array");
	sound_component();
	set(&component, CM, 1 | 2U << 24);
	map_is(CXL_NO_DECODERS, "no decoder capability");
	sound_component();
	set(&component, CM + 12, 5 | 0x182U << 20);
	map_is(CXL_NO_DECODERS, "a misaligned one");
	sound_component();
	component.io.bytes = CM;
	map_is(CXL_TRUNCATED, "a block that ends before the array");
	component.io.bytes = HDM + 8;
	map_is(CXL_TRUNCATED, "or before the decoders");
	component.io.bytes = HDM + 0x10 + 4 * 0x20 - 4;
	map_is(CXL_TRUNCATED, "or amid them");
	sound_component();
	memset(component.words, 0xff, sizeof(component.words));
	map_is(CXL_NO_COMPONENT, "a device that has gone");
	sound_component();
	set(&component, HDM, 12);
	set(&component, CM, 1 | 0xffU << 24);
	for (n = 0; n < 32; n++)
		decoder(n, n * 16 * GIB, GIB, 0, COMMITTED);
	map_is(CXL_OK, "32 decoders");
}

int main(void)
{
	test_blocks();
	test_no_locator();
	test_map();
	test_refused();
	return done();
}
