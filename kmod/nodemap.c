// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bits.h>
#include <linux/bitops.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "fault.h"
#include "host.h"
#include "nodemap.h"
#include "stat.h"

static void *map_zalloc(size_t bytes)
{
	return fault_point() ? NULL : kvzalloc(bytes, GFP_KERNEL | __GFP_NOWARN);
}

static struct hotmap_section *section_alloc(enum phi_layout layout)
{
	struct hotmap_section *section = map_zalloc(sizeof(*section));

	if (!section)
		return NULL;
	section->records = map_zalloc(hotmap_section_bytes(layout));
	if (section->records)
		return section;
	kvfree(section);
	return NULL;
}

static void section_free(struct hotmap_section *section)
{
	if (section)
		kvfree(section->records);
	kvfree(section);
}

static unsigned long section_memory(enum phi_layout layout)
{
	return kmalloc_size_roundup(sizeof(struct hotmap_section)) + hotmap_section_bytes(layout);
}

/* The node's areas in one section, a bit each, told from one online page in each. */
static u64 present_areas(int nid, u64 section)
{
	unsigned long pfn = section * HOTMAP_SECTION_PAGES;
	u64 areas = 0;
	int area;

	for (area = 0; area < HOTMAP_SECTION_AREAS; area++, pfn += HOTMAP_AREA_PAGES) {
		struct page *page = pfn_to_online_page(pfn);

		if (page && page_to_nid(page) == nid)
			areas |= BIT_ULL(area);
	}
	return areas;
}

/*
 * Give the map a directory that reaches over the node's span. It only ever grows: taking memory
 * away does not make a node's other sections move.
 */
static int grow_dir(struct slow_node *node)
{
	struct hotmap_dir *old = node->engine.map.dir, *dir;
	u64 first = node_start_pfn(node->nid) / HOTMAP_SECTION_PAGES;
	u64 end = DIV_ROUND_UP(node_end_pfn(node->nid), HOTMAP_SECTION_PAGES);
	u64 i;

	if (old) {
		first = min(first, old->first);
		end = max(end, old->first + old->nr);
		if (first == old->first && end == old->first + old->nr)
			return 0;
	}
	dir = map_zalloc(hotmap_dir_bytes(end - first));
	if (!dir)
		return -ENOMEM;
	dir->first = first;
	dir->nr = end - first;
	for (i = 0; old && i < old->nr; i++)
		dir->sections[old->first + i - first] = old->sections[i];
	hotmap_replace_dir(&node->engine.map, dir);
	node->hotmap_bytes += hotmap_dir_bytes(dir->nr);
	if (old) {
		node->hotmap_bytes -= hotmap_dir_bytes(old->nr);
		kvfree_rcu_mightsleep(old);
	}
	return 0;
}

static int add_section(struct slow_node *node, u64 nr, u64 areas)
{
	struct hotmap_section *section = section_alloc(node->engine.map.layout);

	if (!section) {
		stat_inc(STAT_pghot_sections_nomem);
		return -ENOMEM;
	}
	section->foreign = ~areas;
	hotmap_attach(&node->engine.map, nr, section);
	node->hotmap_bytes += section_memory(node->engine.map.layout);
	stat_inc(STAT_pghot_sections_added);
	return 0;
}

static void remove_section(struct slow_node *node, u64 nr)
{
	struct hotmap_section *section = hotmap_attach(&node->engine.map, nr, NULL);

	kvfree_rcu_mightsleep(section->records);
	kvfree_rcu_mightsleep(section);
	node->hotmap_bytes -= section_memory(node->engine.map.layout);
	stat_inc(STAT_pghot_sections_removed);
}

/**
 * nodemap_refresh - give a map to all sections the node has now, and to no others
 * @node: locked by the caller
 *
 * What can be mapped is mapped even if something fails.
 *
 * Returns 0, or -ENOMEM if a section or the directory got no memory.
 */
int nodemap_refresh(struct slow_node *node)
{
	int err = grow_dir(node);
	struct hotmap_dir *dir;
	u64 i, areas;

	dir = node->engine.map.dir;
	node->tracked_pages = 0;
	for (i = 0; dir && i < dir->nr; i++) {
		areas = present_areas(node->nid, dir->first + i);
		if (!areas && dir->sections[i])
			remove_section(node, dir->first + i);
		else if (dir->sections[i])
			WRITE_ONCE(dir->sections[i]->foreign, ~areas);
		else if (areas && add_section(node, dir->first + i, areas))
			err = -ENOMEM;
		if (dir->sections[i])
			node->tracked_pages += hweight64(areas) * HOTMAP_AREA_PAGES;
		cond_resched();
	}
	return err;
}

/** nodemap_free - free all; no recorder may see the node any more */
void nodemap_free(struct slow_node *node)
{
	struct hotmap_dir *dir = hotmap_replace_dir(&node->engine.map, NULL);
	u64 i;

	for (i = 0; dir && i < dir->nr; i++)
		section_free(dir->sections[i]);
	kvfree(dir);
	node->tracked_pages = 0;
	node->hotmap_bytes = 0;
}
