/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmigrated - the thread of a slow node: lets time pass, selects, moves, settles
 *
 * It sleeps until a report makes something ready or an epoch ends; with nothing live it sleeps
 * until the first report.
 */
#ifndef PGHOT_KMIGRATED_H
#define PGHOT_KMIGRATED_H

struct slow_node;

int kmigrated_start(struct slow_node *node);
void kmigrated_stop(struct slow_node *node);
void kmigrated_kick(struct slow_node *node);
unsigned long kmigrated_batch_us_max(void);

#endif
