/* SPDX-License-Identifier: GPL-2.0-only */
/* huge - large folios: when all of one may go for the sake of its hot pages, and splitting it */
#ifndef PGHOT_HUGE_H
#define PGHOT_HUGE_H

#include "admit.h"

struct folio;
struct list_head;
struct page;
struct slow_node;

enum refusal huge_admit(struct slow_node *node, struct folio *folio, u32 threshold);
bool huge_may_split(const struct folio *folio);
enum refusal huge_split(struct page *page);
bool huge_split_isolated(struct folio *folio, struct list_head *parts);

#endif
