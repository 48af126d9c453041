/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * The knobs, /proc/sys/vm/pghot_<name>: X(name, default, min, max, unit, help).
 *
 * A write that is not one decimal or 0x-number within [min, max] is refused with EINVAL and changes
 * nothing; some knobs ask more, as their help says.
 */
#ifndef PGHOT_KNOBS_H
#define PGHOT_KNOBS_H

#define PGHOT_KNOBS(X)								\
	X(enabled_sources, 0, 0, 31, "bits",					\
	  "sources that may report; 0 is off: no memory, no hooks. "		\
	  "A bit whose source this module does not have is refused")		\
	X(target_nid, -1, -1, 1023, "node",					\
	  "where pages go; -1: the nearest fast node. Must be a fast node")	\
	X(freq_threshold, 2, 1, 6, "accesses",					\
	  "accesses within the window that make a page hot")			\
	X(promote_freq_window_ms, 3000, 100, 600000, "ms",			\
	  "the window; a page not accessed for longer is not promoted")		\
	X(promote_rate_limit_MBps, 65536, 0, 1048576, "MiB/s",			\
	  "pages that may move to one target node; 0: none")			\
	X(kmigrated_sleep_ms, 100, 1, 10000, "ms",				\
	  "least time between two passes that new reports ask for")		\
	X(kmigrated_batch_nr, 512, 1, 4096, "pages",				\
	  "most pages in one batch")

#endif
