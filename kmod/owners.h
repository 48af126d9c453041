/* SPDX-License-Identifier: GPL-2.0-only */
/* owners - do those who have a page mapped let it go to a node? */
#ifndef PGHOT_OWNERS_H
#define PGHOT_OWNERS_H

#include "admit.h"

struct folio;
struct page;

/* VMAs looked at for one page, and the most that vm.pghot_max_mappers allows. */
enum { OWNERS_MAX = 1024 };

enum refusal owners_admit(struct folio *folio, struct page *page, int target);

#endif
